import { TextInput } from "@mantine/core";
import type { PriceView } from "#shared/admin/prices.ts";
import { useAddress } from "../data/address.ts";
import { oneText } from "../data/search.ts";
import type { Column } from "../parts/data-table.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";
import { PRICE } from "./forms/call-forms.ts";
import { type PriceState, priceState } from "./price-state.ts";
import { Reprice } from "./reprice.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { Unpriced } from "./unpriced.tsx";

const DAY_MS = 86_400_000;

type Row = PriceView & { state?: PriceState };
type Amount = "input" | "output" | "per_call";

const amountColumn = (name: Amount, head: string) =>
  numberColumn<Row>(name, head, {
    of: (price) => (price[name] === null ? null : `$${price[name]}`),
    by: (price) => (price[name] === null ? null : Number(price[name])),
  });

const TONES = { "in force": "good", later: "", replaced: "" } as const satisfies Record<PriceState, string>;

const COLUMNS: readonly Column<Row>[] = [
  textColumn("model", "Model", { of: ({ model }) => model }),
  textColumn("provider", "Provider", { of: ({ provider }) => provider, none: "every provider" }),
  textColumn("tier", "Tier", { of: ({ tier }) => tier }),
  momentColumn("from", "In force from", { of: ({ effective_from: at }) => at, none: "" }),
  {
    id: "state",
    head: "State",
    sort: ({ state = "" }) => state,
    cell: ({ state }) => state && <span className={`tag ${TONES[state]}`}>{state}</span>,
  },
  amountColumn("input", "Input, per million"),
  amountColumn("output", "Output, per million"),
  amountColumn("per_call", "Per call"),
];

const FACTS: ResourceFacts<Row> = {
  path: "/admin/v1/prices",
  title: "Prices",
  noun: "price",
  sub: "Your own prices win over the built-in price list, for calls from their day on.",
  idOf: ({ id }) => id,
  nameOf: ({ model }) => model,
  columns: COLUMNS,
  form: PRICE,
  empty:
    "Calls are priced by the built-in list. Add a price for a model that it lacks, or for your contract.",
  removal: { verb: "Delete", effect: "Calls from now on have the list's price. Records keep theirs." },
};

const readSearch = (raw: Record<string, unknown>) => ({ on: oneText(raw["on"]) });

/** Own prices: all of them as of now, or those in force at the end of a day. */
function OwnPrices() {
  const [{ on }, change] = useAddress(readSearch);
  const atMs = on === undefined ? Date.now() : Date.parse(on) + DAY_MS - 1;
  const pick = (prices: readonly Row[]): Row[] => {
    const rows = prices.map((price) => ({ ...price, state: priceState(price, prices, atMs) }));
    return on === undefined ? rows : rows.filter(({ state }) => state === "in force");
  };
  const controls = (
    <TextInput
      type="date"
      label="In force on"
      description="Empty: all prices, with their state today."
      value={on ?? ""}
      onChange={(event) => change({ on: event.currentTarget.value || undefined }, { replace: true })}
      mb="sm"
      maw={280}
    />
  );
  return <ResourcePanel facts={{ ...FACTS, pick, controls }} />;
}

/** Own prices, models without one, and pricing what had none. */
export const PricesPage = () => (
  <>
    <PageHead title="Prices" />
    <Unpriced />
    <OwnPrices />
    <Reprice />
  </>
);
