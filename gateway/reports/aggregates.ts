import type { Exact } from "#shared/decimal.ts";
import { CLICKHOUSE_COUNTS, rankedSql } from "./counts.ts";
import { CLICKHOUSE, POSTGRES } from "./engines.ts";

const BILLED = ["bool_or(billed) as billed"];
const COST = "max(session_cost_usd) as session_cost_usd";
const REVERTED = "bool_or(reverted) as reverted";
const FIXES = "max(fix_cost_usd) as fix_cost_usd";

/** What is counted once in a group: the column of facts that identifies it, and what it carries, also when counted again. */
export const DISTINCT = {
  person: { member: "person", carries: BILLED, again: BILLED },
  /** Persons with a billed call whose cost is known. */
  payer: { member: "payer", carries: [], again: [] },
  session: { member: "run", carries: BILLED, again: BILLED },
  /** Sessions by day, with the hours in which they were active as a set of bits. */
  hour: {
    member: "hour_run",
    carries: ["bit_or(hours) as hours", "bit_or(hours) filter (where billed) as billed_hours"],
    again: ["bit_or(hours) as hours", "bit_or(billed_hours) as billed_hours"],
  },
  pull_request: {
    member: "pull_request",
    carries: [REVERTED, "bool_or(run is not null) as joined", COST],
    again: [REVERTED, "bool_or(joined) as joined", COST],
  },
  review: { member: "review", carries: [], again: [] },
  /** Sessions of merges, or merges that have a part of theirs, with what each of them cost. */
  merge_session: { member: "purse", carries: [COST, REVERTED], again: [COST, REVERTED] },
  /** What merges cost after their first review. */
  fixes: { member: "purse", carries: [FIXES], again: [FIXES] },
} as const satisfies Record<string, { member: string; carries: string[]; again: string[] }>;
export type DistinctName = keyof typeof DISTINCT;

/**
 * What is summed or counted in SQL. `records`: over facts that are single records, with the columns of relations.ts;
 * `cells`: over facts that are sums of records (rollup/cells.ts), and over sums by one dimension. `distinct`: over the members of
 * DISTINCT instead, by both kinds of facts; `ofMerges`: likewise, but of source outcomes alone. `atOnce`: over the single
 * records of ClickHouse, where that differs (engines.ts). `billed` leaves out the subscription lane. `money` sums are lower bounds where a record is `uncertain`. `empty` is the value over no records. Without
 * `cells` and `distinct` it is computed over single records alone.
 */
type Counted = { name: DistinctName; sql: string; atOnce: string };
type Aggregate = {
  records: string;
  cells: string | null;
  atOnce?: string;
  distinct?: Counted;
  ofMerges?: Counted;
  empty: "0" | null;
  money: boolean;
  /** When its money is a lower bound, beside where the cost of a record `r` is. */
  unsure?: string;
};

const count = (records: string, cells: string | null = null): Aggregate => ({
  records,
  cells,
  empty: "0",
  money: false,
});
const tokens = (sql: string, cells: string, where = ""): Aggregate =>
  count(
    `coalesce(sum((${sql})::bigint)${where ? ` filter (where ${where})` : ""}, 0)`,
    where ? `sum(${cells}) filter (where billed)` : `sum(${cells})`,
  );
/** Of records that have it; null where none has. */
const known = (records: string, unsure?: string): Aggregate => ({
  records,
  cells: null,
  empty: null,
  money: unsure !== undefined,
  ...(unsure !== undefined && { unsure }),
});
const billedSum = (column: string, unsure = `r.${column} is null`): Aggregate => ({
  ...known(`sum(${column}) filter (where billed)`, unsure),
  empty: "0",
});
const percentile = (fraction: number, column: string): Aggregate => ({
  ...known(POSTGRES.percentile(fraction, column)),
  atOnce: CLICKHOUSE.percentile(fraction, column),
});
const usd = (records: string, cells: string): Aggregate => ({ records, cells, empty: "0", money: true });
const distinct = (name: DistinctName, sql: string, atOnce: string): Aggregate => ({
  ...count("null"),
  distinct: { name, sql, atOnce },
});
const { distinct: once, sumOnce, ranked: rankedOnce } = CLICKHOUSE_COUNTS;
/** Money over the members of a distinct count. */
const money = (name: DistinctName, sql: string, atOnce: string): Aggregate => ({
  ...distinct(name, sql, atOnce),
  empty: null,
  money: true,
});
/** Costs of merges at these places of their order. */
const ranked = (...places: string[]): Aggregate =>
  money(
    "pull_request",
    rankedSql("session_cost_usd", places),
    rankedOnce("pull_request", "session_cost_usd", places),
  );
/** Of `n` costs in order, the median is between this place and the same from the end, with a confidence of 95%. */
const LOW = "floor((n - 1.96 * sqrt(n)) / 2.0)";

const TOTAL = "coalesce(input_tokens, 0)::bigint + coalesce(output_tokens, 0)";
const PRICED = "billed and token_cost_usd is not null";

/** The only place where figures meet SQL. */
export const AGGREGATES = {
  records: count("count(*)", "sum(records)"),
  billed_records: count("count(*) filter (where billed)", "sum(records) filter (where billed)"),
  unpriced: count("count(*) filter (where billed and unpriced)", "sum(unpriced) filter (where billed)"),
  uncertain: count("count(*) filter (where billed and uncertain)", "sum(uncertain) filter (where billed)"),
  input_tokens: tokens("input_tokens", "input_tokens"),
  output_tokens: tokens("output_tokens", "output_tokens"),
  total_tokens: tokens(TOTAL, "input_tokens + output_tokens"),
  cached_tokens: tokens("cached_tokens", "cached_tokens"),
  billed_tokens: tokens(TOTAL, "input_tokens + output_tokens", "billed"),
  priced_input_tokens: tokens("input_tokens", "priced_input_tokens", PRICED),
  priced_output_tokens: tokens("output_tokens", "priced_output_tokens", PRICED),
  cost_usd: {
    ...usd("sum(cost_usd) filter (where billed)", "sum(cost_usd) filter (where billed)"),
    ofMerges: {
      name: "merge_session",
      sql: "sum(session_cost_usd)",
      atOnce: sumOnce("purse", "session_cost_usd"),
    },
  },
  token_cost_usd: usd(
    "sum(token_cost_usd) filter (where billed)",
    "sum(token_cost_usd) filter (where billed)",
  ),
  session_cost_usd: usd(
    "sum(cost_usd) filter (where billed and run is not null)",
    "sum(session_cost_usd) filter (where billed)",
  ),
  users: distinct("person", "count(*) filter (where fresh)", once("person")),
  billed_users: distinct("person", "count(*) filter (where billed_fresh)", once("person", "billed")),
  priced_users: distinct("payer", "count(*)", once("payer")),
  sessions: distinct("session", "count(*) filter (where fresh)", once("run")),
  billed_sessions: distinct("session", "count(*) filter (where billed_fresh)", once("run", "billed")),
  active_hours: distinct("hour", "sum(bit_count(hours::bit(24)))", once("run, hour")),
  billed_hours: distinct("hour", "sum(bit_count(billed_hours::bit(24)))", once("run, hour", "billed")),
  latency_sum_ms: count("coalesce(sum(latency_ms), 0)", "sum(latency_sum)"),
  latency_count: count("coalesce(sum(timed), 0)", "sum(latency_count)"),
  /** Cells have histograms (`latency_histogram` in the migration). */
  latency_p95_ms: {
    ...percentile(0.95, "latency_ms"),
    cells: "sum(latencies)",
  },
  ttft_sum_ms: count("coalesce(sum(ttft_ms), 0)", "sum(ttft_sum)"),
  ttft_count: count("count(ttft_ms)", "sum(ttft_count)"),
  ok: count("count(*) filter (where status = 'ok')"),
  failed: count("count(*) filter (where status = 'failed')"),
  unknown: count("count(*) filter (where status = 'unknown')"),
  denied: count("count(*) filter (where status = 'denied')"),
  pending: count("count(*) filter (where status = 'pending')"),
  billed_ok: count("count(*) filter (where billed and status = 'ok')"),
  operations: count("coalesce(sum(operations), 0)"),
  merged_prs: distinct("pull_request", "count(*)", once("pull_request")),
  reverted_prs: distinct(
    "pull_request",
    "count(*) filter (where reverted)",
    once("pull_request", "reverted"),
  ),
  joined_prs: distinct(
    "pull_request",
    "count(*) filter (where joined)",
    once("pull_request", "run is not null"),
  ),
  reviews: distinct("review", "count(*)", once("review")),
  costed_prs: distinct(
    "pull_request",
    "count(session_cost_usd)",
    once("pull_request", "session_cost_usd is not null"),
  ),
  median_cost: ranked("ceil(n / 2.0)", "floor(n / 2.0) + 1"),
  p90_cost: ranked("ceil(n * 9 / 10.0)"),
  median_low: ranked(LOW),
  median_high: ranked(`n + 1 - ${LOW}`),
  reverted_cost: money(
    "merge_session",
    "case when bool_or(reverted) then sum(session_cost_usd) filter (where reverted) else 0 end",
    `case when count(run) = 0 then null when count(*) filter (where run is not null and reverted) = 0 then 0
      else ${sumOnce("purse", "session_cost_usd", "reverted")} end`,
  ),
  reasoning_tokens: known("sum((reasoning_tokens)::bigint)"),
  cache_write_tokens: known("sum((cache_write_tokens)::bigint)"),
  errors: count("count(error)"),
  latency_p50_ms: percentile(0.5, "latency_ms"),
  ttft_p95_ms: percentile(0.95, "ttft_ms"),
  list_cost_usd: billedSum("at_list_usd"),
  savings_usd: billedSum("saved_usd"),
  savings_cache_usd: billedSum("cache_saved_usd"),
  billed_cost_usd: billedSum("on_bill_usd"),
  effective_cost_usd: billedSum("effective_usd"),
  fix_cost: money("fixes", "sum(fix_cost_usd)", sumOnce("purse", "fix_cost_usd")),
} as const satisfies Record<string, Aggregate>;

export type AggregateName = keyof typeof AGGREGATES;
export const aggregateOf = (name: AggregateName): Aggregate => AGGREGATES[name];
/** Whether sums of records have it, too; else it is computed over single ones. */
export const isInCells = (name: AggregateName): boolean =>
  aggregateOf(name).cells !== null || aggregateOf(name).distinct !== undefined;
export const AGGREGATE_NAMES = Object.keys(AGGREGATES) as AggregateName[];

/** Those of the columns `among` that SQL names, in its order. */
export function namedIn<Name extends string>(sqls: readonly string[], among: readonly Name[]): Name[] {
  const words = new Set<string>(sqls.flatMap((sql) => sql.match(/\w+/g) ?? []));
  const isAmong = (word: string): word is Name => among.some((name) => name === word);
  return [...words].filter(isAmong);
}

/** The aggregates of one group in one window; `floor` where its money is a lower bound. */
export type Aggregates = { floor: boolean; of: Partial<Record<AggregateName, Exact | null>> };
