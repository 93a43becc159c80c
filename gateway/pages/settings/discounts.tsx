import type { DiscountView } from "#shared/admin/discounts.ts";
import { isoDay } from "../parts/dates.ts";
import { numberColumn, textColumn } from "./cells.tsx";
import { DISCOUNT } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const DISCOUNTS: ResourceFacts<DiscountView> = {
  path: "/admin/v1/discounts",
  title: "Discounts",
  noun: "discount",
  sub: "What your contracts take off the list price, on calls from their date on. A price of your own has no discount.",
  nameOf: ({ provider, percent }) => `${percent} % at ${provider}`,
  columns: [
    textColumn("provider", "Provider", { of: ({ provider }) => provider }),
    numberColumn("percent", "Percent", {
      of: ({ percent }) => `${percent} %`,
      by: ({ percent }) => Number(percent),
    }),
    textColumn("models", "Models", { of: ({ models }) => models?.join(", ") ?? null, none: "all" }),
    textColumn("tiers", "Tiers", { of: ({ tiers }) => tiers?.join(", ") ?? null, none: "all" }),
    textColumn("from", "From", { of: ({ effective_from: from }) => isoDay(Date.parse(from)) }),
    textColumn("to", "Until", { of: ({ effective_to: to }) => to && isoDay(Date.parse(to)), none: "no end" }),
  ],
  form: DISCOUNT,
  empty: "Calls cost the list price, or your own prices.",
  removal: { verb: "Delete", effect: "New calls get the list's price. Existing records keep theirs." },
};

/** What contracts take off the list price. */
export const Discounts = () => <ResourcePanel facts={DISCOUNTS} />;
