import type { DiscountView } from "#shared/admin/discounts.ts";
import { number, text } from "../parts/columns.tsx";
import { isoDay } from "../parts/dates.ts";
import { DISCOUNT } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const DISCOUNTS: ResourceFacts<DiscountView> = {
  path: "/admin/v1/discounts",
  title: "Discounts",
  noun: "discount",
  sub: "What your contracts take off the list price, on calls from their date on. A price of your own has no discount.",
  nameOf: ({ provider, percent }) => `${percent} % at ${provider}`,
  columns: {
    provider: text("Provider", ({ provider }) => provider),
    percent: number("Percent", ({ percent }) => Number(percent), { show: ({ percent }) => `${percent} %` }),
    models: text("Models", ({ models }) => models?.join(", ") ?? null, "all"),
    tiers: text("Tiers", ({ tiers }) => tiers?.join(", ") ?? null, "all"),
    from: text("From", ({ effective_from: from }) => isoDay(Date.parse(from))),
    to: text("Until", ({ effective_to: to }) => to && isoDay(Date.parse(to)), "no end"),
  },
  form: DISCOUNT,
  empty: "Calls cost the list price, or your own prices.",
  removal: { verb: "Delete", effect: "New calls get the list's price. Existing records keep theirs." },
};

/** What contracts take off the list price. */
export const Discounts = () => <ResourcePanel facts={DISCOUNTS} />;
