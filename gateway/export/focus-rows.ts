import type { Database, Db } from "#drizzle/database.ts";
import { rollupState } from "#drizzle/schema/rollups.ts";
import { decimalQuotient, formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { refuse } from "../errors.ts";
import { NONE } from "../reports/dimensions.ts";
import { POSTGRES, PRICE_LINES } from "../reports/engines.ts";
import { parameters, type Query, sent } from "../reports/parameters.ts";
import type { Span } from "../reports/rollup/cover.ts";
import { LIST_COST } from "../reports/savings.ts";
import { factorSql, type Spread, spreadFor } from "../reports/spread.ts";
import type { FocusRow } from "./focus-columns.ts";

const DAY_MS = 86_400_000;

type Charge = Record<
  "provider" | "model" | "tier" | "team" | "cost_center" | "key" | "unit_usd",
  string | null
> &
  Record<"kind" | "units" | "usd" | "billed_usd" | "effective_usd" | "list_usd" | "requests", string> &
  Record<"billed_known" | "list_known" | "floor", boolean>;

/**
 * What calls of a span cost by provider, model, tier, team, cost centre, key, unit and its price. The list's cost of a call belongs to its units
 * in proportion to their cost; what rounding leaves, to the first. An unknown one counts as the cost, and is marked; so does what is
 * billed for a day without a bill.
 */
function charges({ fromMs, toMs }: Span, spread: Spread): Query {
  const params = parameters();
  const { billed, paid, joins } = factorSql({ engine: POSTGRES, spread }, params);
  const text = `with calls as (
  select q.id, q.provider, q.model, q.service_tier as tier, q.teams[1] as team, q.cost_center, k.name as key, q.price, q.cost_usd,
    q.partial as floor, ${LIST_COST} as list_usd, q.cost_basis, ${billed} as billed, ${paid} as paid
  from requests q left join keys k on k.org_id = q.org_id and k.id = q.key_id${joins}
  where q.org_id = '${DEFAULT_ORG}' and q.started_at >= ${params.instant(fromMs)} and q.started_at < ${params.instant(toMs)}
    and q.channel <> 'subscription' and q.cost_usd is not null
), lines as (
  select c.*, x.kind, x.units, x.unit_usd, x.usd, row_number() over (partition by c.id order by x.kind, x.unit_usd) as place,
    case when c.list_usd is null or c.cost_usd = 0 then x.usd else round(x.usd * c.list_usd / c.cost_usd, 24) end as share
  from calls c cross join lateral (
    with p as materialized (select m[1] as kind, m[2]::numeric as units, m[3]::numeric as unit_usd, m[2]::numeric * m[3]::numeric as usd
      from regexp_matches(c.price #>> '{}', '${PRICE_LINES}', 'g') m where c.cost_basis is distinct from 'vendor')
    select * from p union all select 'request', 1, null, left_over
    from (select c.cost_usd - coalesce(sum(usd), 0) as left_over, count(*) as n from p) d
    where left_over <> 0 or (n = 0 and c.list_usd <> 0)) x
), shared as (
  select l.*, case when list_usd is null then usd when place > 1 then share
    else list_usd - (sum(share) over (partition by id) - share) end as list_share
  from lines l
)
select provider, model, tier, team, cost_center, key, kind, unit_usd::text, sum(units)::text as units, sum(usd)::text as usd,
  trim_scale(sum(usd * coalesce(billed, 1)))::text as billed_usd, billed is not null as billed_known, trim_scale(sum(usd * paid))::text as effective_usd,
  sum(list_share)::text as list_usd, list_usd is not null as list_known, bool_or(floor) as floor, count(distinct id)::text as requests
from shared group by provider, model, tier, team, cost_center, key, kind, shared.unit_usd, (list_usd is not null), (billed is not null)
order by provider, model, tier, team, cost_center, key, kind, shared.unit_usd, list_known, billed_known`;
  return { text, params: params.values };
}

/** FOCUS rows are of single records. @throws GatewayError invalid_request if the span's are no longer kept. */
export async function requireKept({ db }: Db, { fromMs }: Span, name = "from"): Promise<void> {
  const [state] = await db.select({ rawFrom: rollupState.rawFrom }).from(rollupState);
  if (!state?.rawFrom || fromMs >= Date.parse(state.rawFrom)) return;
  refuse(`${name}: single records are kept since ${state.rawFrom}`);
}

const SPREAD: Pick<Spec, "source" | "measures"> = {
  source: "requests",
  measures: ["billed_cost_usd", "effective_cost_usd"],
};

type Long = Pick<Database, "long">;

const ask = async <Row extends object>({ long }: Long, query: Query) =>
  long.unsafe<Row[]>(query.text, sent(query));

/** The factors of all rows of a span. */
export const focusSpread = (database: Long, current: Span): Promise<Spread> =>
  spreadFor((query) => ask(database, query), {
    orgId: DEFAULT_ORG,
    spec: SPREAD,
    periods: { current, previous: null },
  });

/** FOCUS rows of a span, a day (UTC) at a time: no more than one day is held. `known`: the factors, if they are known. */
export async function* focusRows(
  database: Long,
  { fromMs, toMs }: Span,
  known?: Spread,
): AsyncGenerator<FocusRow[]> {
  const spread = known ?? (await focusSpread(database, { fromMs, toMs }));
  for (let at = fromMs; at < toMs; at = Math.floor(at / DAY_MS) * DAY_MS + DAY_MS) {
    const end = Math.min(Math.floor(at / DAY_MS) * DAY_MS + DAY_MS, toMs);
    const rows = await ask<Charge>(database, charges({ fromMs: at, toMs: end }, spread));
    if (rows.length > 0) yield [...rows].map((row) => focusRow(row, at));
  }
}

/** What units are called; all others are tokens. */
const UNITS: Readonly<Record<string, string>> = {
  request: "Requests",
  call: "Requests",
  audio: "Recordings",
  image: "Images",
  character: "Characters",
  search_unit: "Searches",
  web_search: "Searches",
  file_search: "Searches",
  source: "Sources",
};

const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** What all rows have. */
const SAME = {
  BillingCurrency: "USD",
  ChargeCategory: "Usage",
  ChargeClass: null,
  ChargeFrequency: "Usage-Based",
  PricingCategory: "Standard",
  ServiceCategory: "AI and Machine Learning",
  ServiceSubcategory: "Generative AI",
} as const;

function focusRow(row: Charge, atMs: number): FocusRow {
  const { provider, model, tier, team, kind, units, usd, list_usd } = row;
  const day = Math.floor(atMs / DAY_MS) * DAY_MS;
  const month = new Date(day);
  const vendor = provider ?? NONE;
  const unit = UNITS[kind] ?? "Tokens";
  const each = (amount: string) => formatDecimal(decimalQuotient(parseDecimal(amount), parseDecimal(units)));
  const price = row.unit_usd ?? each(usd);
  const tags = Object.entries({ team, cost_center: row.cost_center, key: row.key }).filter(
    ([, value]) => value,
  );
  const details = { x_TokenType: kind, ...(tier !== null && { x_ServiceTier: tier }) };
  return {
    ...SAME,
    BilledCost: row.billed_usd,
    BillingAccountId: vendor,
    BillingAccountName: provider,
    BillingPeriodEnd: instant(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)),
    BillingPeriodStart: instant(Date.UTC(month.getUTCFullYear(), month.getUTCMonth())),
    ChargeDescription: [model ?? NONE, kind, tier].filter(Boolean).join(", "),
    ChargePeriodEnd: instant(day + DAY_MS),
    ChargePeriodStart: instant(day),
    ConsumedQuantity: units,
    ConsumedUnit: unit,
    ContractedCost: usd,
    ContractedUnitPrice: price,
    EffectiveCost: row.effective_usd,
    HostProviderName: vendor,
    InvoiceIssuerName: vendor,
    ListCost: list_usd,
    ListUnitPrice: list_usd === usd ? price : each(list_usd),
    PricingQuantity: units,
    PricingUnit: unit,
    ServiceName: `${vendor} API`,
    ServiceProviderName: vendor,
    SkuId: `${vendor}/${model ?? NONE}`,
    SkuMeter: kind,
    SkuPriceDetails: JSON.stringify(details),
    SkuPriceId: [vendor, model ?? NONE, kind, tier ?? "standard"].join("/"),
    SubAccountId: team,
    SubAccountName: team,
    SubAccountType: team === null ? null : "Team",
    Tags: tags.length === 0 ? null : JSON.stringify(Object.fromEntries(tags)),
    x_BilledCostKnown: row.billed_known,
    x_Floor: row.floor,
    x_ListCostKnown: row.list_known,
    x_Model: model,
    x_Requests: row.requests,
    x_ServiceTier: tier,
    x_TokenType: kind,
  };
}
