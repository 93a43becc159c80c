import { VENDOR_KINDS } from "#shared/admin/vendor-bills.ts";
import type { MeasureName, Spec } from "#shared/report.ts";
import { type AsOf, callsAsOf } from "./as-of.ts";
import type { AnswerRow } from "./assemble.ts";
import { commitmentsQuery, coveredBy } from "./commitments.ts";
import type { Engine } from "./engines.ts";
import { listedRows, type Parameters, parameters, type Query } from "./parameters.ts";
import type { Periods } from "./window.ts";

// What is billed or paid beforehand is spread over calls by their cost: a call's part is its cost times a factor. Factors are
// worked out in Postgres, and joined to single records in either database.

/**
 * Factors by what they are of. Billed: those of a provider's day, in the time zone of the bill. Paid: those of a provider's
 * model and day (UTC); a call without one costs what it costs.
 */
export type Spread = { billed: readonly AnswerRow[]; paid: readonly AnswerRow[] };

const DAY_MS = 86_400_000;

const QUERIES = { billed_cost_usd: "billed", effective_cost_usd: "paid" } as const;
type Spreading = keyof typeof QUERIES;
const isSpreading = (name: MeasureName): name is Spreading => Object.hasOwn(QUERIES, name);

type Measured = Pick<Spec, "source" | "measures">;

export const isSpread = ({ source, measures }: Measured): boolean =>
  source === "requests" && measures.some(isSpreading);

type Asking = { orgId: string; periods: Periods } & AsOf;

/** Asks for the factors that a report needs. */
export async function spreadFor(
  postgres: (query: Query) => Promise<readonly AnswerRow[]>,
  { orgId, spec, periods, asOfMs }: Asking & { spec: Measured },
): Promise<Spread> {
  const of = async (name: Spreading, query: Query) =>
    spec.measures.includes(name) ? await postgres(query) : [];
  const { toMs } = periods.current;
  return {
    billed: await of("billed_cost_usd", billedQuery({ orgId, periods, asOfMs })),
    paid: coveredBy(
      await of("effective_cost_usd", commitmentsQuery(orgId, { fromMs: startOf(periods), toMs, asOfMs })),
    ).factors,
  };
}

/** Where the earlier one begins; 0: with the first record. */
function startOf({ current, previous }: Periods): number {
  const starts = [current.fromMs, previous?.fromMs].flatMap((ms) => ms ?? []);
  return starts.length === 0 ? 0 : Math.min(...starts);
}

/**
 * What calls of a day are billed for each dollar metered: use by the day, and taxes, credits and fees by the month, over the calls of its
 * billed days; null while an amount has no rate.
 */
function billedQuery({ orgId, periods, asOfMs }: Asking): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const kinds = Object.entries(VENDOR_KINDS).map(
    ([vendor, names]) => `when '${vendor}' then array[${names.map((name) => `'${name}'`)}]::text[]`,
  );
  const [fromMs, toMs] = [startOf(periods), periods.current.toMs];
  const [from, to] = [params.instant(fromMs), params.instant(toMs)];
  const monthAt = (ms: number, more: number) =>
    params.instant(Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth() + more));
  const [first, after] = [monthAt(fromMs - DAY_MS, 0), monthAt(toMs + DAY_MS, 1)];
  const text = `with a as (
    select v.name, v.time_zone, v.keys, coalesce(v.providers, array(select p.name from providers p
      where p.org_id = v.org_id and p.kind = any(case v.vendor ${kinds.join(" ")} end))) as providers
    from vendor_accounts v where v.org_id = ${org}
  ), b as (
    select d.account, d.day, date_trunc('month', d.day::timestamp) as month, ${["=", "<>"]
      .map(
        (is) => `
      case when bool_and(l.rate is not null) filter (where l.category ${is} 'usage') is not false
        then coalesce(sum(l.amount * l.rate) filter (where l.category ${is} 'usage'), 0)::numeric(76,36) end`,
      )
      .join(" as used,")} as besides
    from vendor_bill_days d join a on a.name = d.account
    left join vendor_bill_lines l on l.org_id = d.org_id and l.account = d.account and l.day = d.day and l.amount is not null
      and (l.category <> 'usage' or a.keys is null or l.key is null or l.key = any(a.keys))
    where d.org_id = ${org} and d.day >= ${first}::date and d.day < ${after}::date group by d.account, d.day
  ), m as (
    select a.name as account, (q.started_at at time zone a.time_zone)::date as day, sum(q.cost_usd) as usd
    from a join ${callsAsOf({ asOfMs }, params) ?? "requests"} q on q.provider = any(a.providers)
    where q.org_id = ${org} and q.channel <> 'subscription' and q.started_at >= ${first} - interval '1 day'
      and q.started_at < ${after} + interval '1 day'
    group by 1, 2
  ), t as (
    select account, month, case when bool_and(besides is not null) then sum(besides) / nullif(sum(m.usd), 0) end as factor
    from b left join m using (account, day) group by 1, 2
  )
  select distinct on (provider, day) provider, day::text, a.time_zone as zone, round(b.used / m.usd + t.factor, 24)::text as factor
  from b join m using (account, day) join t using (account, month) join a on a.name = b.account, unnest(a.providers) provider
  where m.usd > 0 and b.used + t.factor is not null and day between ${from}::date - 1 and ${to}::date + 1
  order by provider, day, a.name`;
  return { text, params: params.values };
}

type Asked = { engine: Engine; spec: Spec; spread?: Spread };

/** The columns of a call's parts, and the tables to join to calls `q`. */
export function spreadSql({ engine, spec, spread }: Asked, params: Parameters) {
  if (!isSpread(spec) || spread === undefined) return { columns: "", joins: "" };
  const { billed, paid, joins } = factorSql({ engine, spread }, params);
  return {
    columns: `,
    q.cost_usd * ${billed} as on_bill_usd, q.cost_usd * ${paid} as effective_usd`,
    joins,
  };
}

/** The factors of a call `q` (`billed` is null without a bill), and the tables to join to it. */
export function factorSql({ engine, spread }: { engine: Engine; spread: Spread }, params: Parameters) {
  // ClickHouse names columns that two tables have by their table.
  const table = (rows: readonly AnswerRow[], names: readonly string[]) =>
    listedRows({ engine, params, prefix: "of_" }, rows, names);
  const day = (zone: string) => engine.day("q.started_at", zone);
  const zones = [...Map.groupBy(spread.billed, ({ zone }) => zone ?? "UTC")];
  const joins = zones.map(
    ([zone, rows], i) =>
      `left join (${table(rows, ["provider", "day", "factor"])}) b${i} on b${i}.of_provider = q.provider and b${i}.of_day = ${day(zone)}`,
  );
  const isPaid = spread.paid.length > 0;
  if (isPaid) {
    joins.push(`left join (${table(spread.paid, ["provider", "model", "day", "factor"])}) paid on paid.of_provider = q.provider
      and paid.of_model = coalesce(q.response_model, q.model) and paid.of_day = ${day("UTC")}`);
  }
  const factors = [...zones.map((_, i) => engine.exact(`b${i}.of_factor`)), engine.exact("''")];
  const factor = isPaid
    ? `coalesce(${engine.exact("paid.of_factor")}, ${engine.exact("'1'")})`
    : engine.exact("'1'");
  return {
    billed: `coalesce(${factors.join(", ")})`,
    paid: factor,
    joins: joins.map((join) => `\n  ${join}`).join(""),
  };
}
