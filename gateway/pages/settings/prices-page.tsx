import { TextInput } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import type { DiscountView } from "#shared/admin/discounts.ts";
import type { PriceView, UnpricedModels } from "#shared/admin/prices.ts";
import type { PricesInForce } from "#shared/admin/prices-in-force.ts";
import { useAddress } from "../data/address.ts";
import { queryOf, useJson } from "../data/api.ts";
import { listSearch } from "../data/list-search.ts";
import { type Columns, cell, day, folded, number, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay } from "../parts/dates.ts";
import { plainUsd } from "../parts/format.ts";
import { Answered, Empty, PageHead, Panel } from "../parts/page.tsx";
import { Foreign } from "../parts/values.tsx";
import { ClosedMonths } from "./closed-months.tsx";
import { DISCOUNT, PRICE } from "./forms/call-forms.ts";
import { PriceList } from "./price-list.tsx";
import { Reprice } from "./reprice.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const DAY_MS = 86_400_000;

type Row = PriceView & { state?: PriceState };
type InForce = PricesInForce["data"][number];

/** Amounts as the price list has them; what is not priced is null. */
const amount = <Row,>(head: string, of: (row: Row) => string | null) =>
  number<Row>(head, (row) => asNumber(of(row)), { show: (row) => plainUsd(of(row) ?? 0) });
const asNumber = (amount: string | null): number | null => (amount === null ? null : Number(amount));

const TONES = { "in force": "good", later: "", replaced: "" } as const satisfies Record<PriceState, string>;

const COLUMNS: Columns<Row> = {
  model: text("Model", ({ model }) => model),
  input: amount("Input", (it) => it.input),
  output: amount("Output", (it) => it.output),
  provider: folded(text("Provider", ({ provider }) => provider, "every provider")),
  tier: text("Tier", ({ tier }) => tier),
  from: day("In force from", ({ effective_from: at }) => at),
  state: cell(
    "State",
    ({ state }) => state && <span className={`tag ${TONES[state]}`}>{state}</span>,
    ({ state = "" }) => state,
  ),
  multiplier: number("Times the list", ({ multiplier }) => asNumber(multiplier), {
    show: (it) => `× ${it.multiplier}`,
  }),
  per_call: amount("Per call", (it) => it.per_call),
};

const FACTS: ResourceFacts<Row> = {
  path: "/admin/v1/prices",
  title: "Own prices",
  noun: "price",
  sub: "In USD per million tokens. Your own prices override the built-in price list for calls from their date on. What a price does not name comes from the list.",
  nameOf: ({ model }) => model,
  columns: COLUMNS,
  form: PRICE,
  empty:
    "Calls are priced by the built-in list. Add a price for a model that it lacks, or for your contract.",
  removal: { verb: "Delete", effect: "New calls get the list's price. Existing records keep theirs." },
};

const IN_FORCE_COLUMNS: Columns<InForce> = {
  model: text("Model", ({ model }) => model),
  input: amount("Input", (it) => it.input),
  output: amount("Output", (it) => it.output),
  provider: folded(text("Provider", ({ provider }) => provider)),
  cached_input: amount("From the cache", (it) => it.cached_input),
  cache_write: amount("Cache write", (it) => it.cache_write),
  per_call: amount("Per call", (it) => it.per_call),
  source: cell(
    "Source",
    ({ source, entry, since, url }) => {
      if (source === null) return <span className="tag warn">no price</span>;
      if (source !== "list") {
        const what = source === "own" ? "your own" : "list less your discount";
        return `${what}, since ${calendarDay(since ?? "")}`;
      }
      return url === null ? (
        <Foreign text={entry ?? ""} />
      ) : (
        <a href={url} rel="noreferrer" className="link">
          <Foreign text={entry ?? ""} />
        </a>
      );
    },
    ({ source }) => source,
  ),
};

function PricesOfDay() {
  const [{ on }, change] = useAddress(readSearch);
  const query = useJson<PricesInForce>(
    ["settings", "prices-in-force", on],
    `/admin/v1/prices/in-force${queryOf({ on })}`,
    { placeholderData: keepPreviousData },
  );
  return (
    <Panel title="Prices in force" sub="Standard prices of the models in use, in USD per million tokens.">
      <TextInput
        type="date"
        label="In force on"
        description="Empty: now."
        value={on ?? ""}
        onChange={(event) => change({ on: event.currentTarget.value || undefined }, { replace: true })}
        mb="sm"
        maw={280}
      />
      <Answered query={query}>
        {({ list, data }) => (
          <>
            <DataTable
              {...{
                label: "Prices in force",
                columns: IN_FORCE_COLUMNS,
                rows: data,
                sortName: "in-force.sort",
              }}
              rowKey={["provider", "model"]}
              none={
                <Empty title="No model in use">
                  Models appear here with a route, a call or a price of your own.
                </Empty>
              }
            />
            <p className="mute small">
              The built-in list is {list.name} {list.version} of {calendarDay(list.published)}. {list.warning}
            </p>
          </>
        )}
      </Answered>
    </Panel>
  );
}

const readSearch = listSearch(["on"]);

/** Own prices: all of them as of now, or those in force at the end of a day. */
function OwnPrices() {
  const [{ on }] = useAddress(readSearch);
  const atMs = on === undefined ? Date.now() : Date.parse(on) + DAY_MS - 1;
  const pick = (prices: readonly Row[]): Row[] => {
    const rows = prices.map((price) => ({ ...price, state: priceState(price, prices, atMs) }));
    return on === undefined ? rows : rows.filter(({ state }) => state === "in force");
  };
  return <ResourcePanel facts={{ ...FACTS, pick }} />;
}

/** Own prices, models without one, and pricing what had none. */
export const PricesPage = () => (
  <>
    <PageHead title="Prices" />
    <Unpriced />
    <PricesOfDay />
    <OwnPrices />
    <ResourcePanel facts={DISCOUNTS} />
    <PriceList />
    <Reprice kind="reprice" />
    <Reprice kind="restate" />
    <ClosedMonths />
  </>
);

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
    from: day("From", ({ effective_from: from }) => from),
    to: day("Until", ({ effective_to: to }) => to, "no end"),
  },
  form: DISCOUNT,
  empty: "Calls cost the list price, or your own prices.",
  removal: { verb: "Delete", effect: "New calls get the list's price. Existing records keep theirs." },
};

type Unpriced = UnpricedModels["data"][number];

const UNPRICED_COLUMNS: Columns<Unpriced> = {
  model: text("Model", ({ model }) => model, "unknown"),
  requests: number("Calls without a cost", ({ requests }) => requests),
  reason: cell("Why", ({ reason }) => <div className="changes">{reason}</div>),
  provider: text("Provider", ({ provider }) => provider, "unknown"),
  tier: text("Tier", ({ tier }) => tier, "standard"),
};

/** Models of the last seven days whose calls have no cost. Nothing is shown if there are none. */
function Unpriced() {
  const { data } = useJson<UnpricedModels>(["settings", "unpriced"], "/admin/v1/prices/unpriced", {
    refetchInterval: 30_000,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Panel
      title="Without a price"
      sub="Calls of the last seven days whose cost is unknown. Reports that include them show a lower bound. Add a price, then price the calls below."
    >
      <DataTable
        label="Models without a price"
        columns={UNPRICED_COLUMNS}
        rows={data.data}
        rowKey={["provider", "model", "tier"]}
      />
    </Panel>
  );
}

type PriceState = "in force" | "later" | "replaced";

/** Prices for the same calls replace each other. */
const same = (a: PriceView, b: PriceView): boolean =>
  a.model === b.model && a.provider === b.provider && a.tier === b.tier;

/** Whether a price is for calls of now: the latest of its kind that has begun. */
function priceState(price: PriceView, prices: readonly PriceView[], nowMs: number): PriceState {
  const from = Date.parse(price.effective_from);
  if (from > nowMs) return "later";
  const isReplaced = prices.some((other) => {
    const otherFrom = Date.parse(other.effective_from);
    return same(price, other) && otherFrom > from && otherFrom <= nowMs;
  });
  return isReplaced ? "replaced" : "in force";
}
