import type { PriceView } from "#shared/admin/prices.ts";
import { PageHead } from "../parts/page-head.tsx";
import { momentColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { Reprice } from "./reprice.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { Unpriced } from "./unpriced.tsx";

const perMillion = "USD per million tokens.";
const FIELDS: readonly Field[] = [
  { name: "model", label: "Model", kind: "text", required: true },
  { name: "provider", label: "Provider", kind: "text", nullable: true, help: "Empty: every provider." },
  {
    name: "effective_from",
    label: "In force from",
    kind: "moment",
    required: true,
    placeholder: "2026-01-01",
  },
  { name: "tier", label: "Service tier", kind: "text", placeholder: "standard" },
  {
    name: "multiplier",
    label: "Times the standard price",
    kind: "decimal",
    nullable: true,
    help: "Instead of amounts, for other tiers.",
  },
  { name: "input", label: "Input", kind: "decimal", nullable: true, help: perMillion },
  { name: "output", label: "Output", kind: "decimal", nullable: true, help: perMillion },
  { name: "cached_input", label: "Input from the cache", kind: "decimal", nullable: true, help: perMillion },
  {
    name: "cache_write_5m",
    label: "Cache write, five minutes",
    kind: "decimal",
    nullable: true,
    help: perMillion,
  },
  {
    name: "cache_write_1h",
    label: "Cache write, one hour",
    kind: "decimal",
    nullable: true,
    help: perMillion,
  },
  { name: "per_image", label: "Per image", kind: "decimal", nullable: true },
  { name: "per_character", label: "Per character of speech", kind: "decimal", nullable: true },
  { name: "per_call", label: "Per call", kind: "decimal", nullable: true },
];

const usdText = (value: string | null): string | null => (value === null ? null : `$${value}`);

const FACTS: ResourceFacts<PriceView> = {
  path: "/admin/v1/prices",
  title: "Prices",
  noun: "price",
  sub: "Your own prices win over the built-in price list, for calls from their day on.",
  idOf: ({ id }) => id,
  nameOf: ({ model }) => model,
  columns: [
    textColumn("model", "Model", { of: ({ model }) => model }),
    textColumn("provider", "Provider", { of: ({ provider }) => provider, none: "every provider" }),
    textColumn("tier", "Tier", { of: ({ tier }) => tier }),
    momentColumn("from", "In force from", { of: ({ effective_from: at }) => at, none: "" }),
    textColumn("input", "Input, per million", { of: ({ input }) => usdText(input), none: "–" }),
    textColumn("output", "Output, per million", { of: ({ output }) => usdText(output), none: "–" }),
    textColumn("call", "Per call", { of: ({ per_call: usd }) => usdText(usd), none: "–" }),
  ],
  fields: FIELDS,
  empty:
    "Calls are priced by the built-in list. Add a price for a model that it lacks, or for your contract.",
  removal: { verb: "Delete", effect: "Calls from now on have the list's price. Records keep theirs." },
};

/** Own prices, models without one, and pricing what had none. */
export const PricesPage = () => (
  <>
    <PageHead title="Prices" />
    <Unpriced />
    <ResourcePanel facts={FACTS} />
    <Reprice />
  </>
);
