import type { Exact } from "#shared/decimal.ts";
import type { MeasureName } from "#shared/report.ts";
import { CLICKHOUSE, CLICKHOUSE_COUNTS, POSTGRES } from "./engines.ts";

/** What is counted once in a group: the column of facts that identifies it. */
export const DISTINCT = {
  person: { member: "person", carries: ["bool_or(billed) as billed"], again: ["bool_or(billed) as billed"] },
  /** Persons with a billed call whose cost is known. */
  payer: { member: "payer", carries: [], again: [] },
  session: {
    member: "run",
    carries: ["bool_or(billed) as billed"],
    again: ["bool_or(billed) as billed"],
  },
  /** Sessions by day, with the hours in which they were active as a set of bits. */
  hour: {
    member: "hour_run",
    carries: ["bit_or(hours) as hours", "bit_or(hours) filter (where billed) as billed_hours"],
    again: ["bit_or(hours) as hours", "bit_or(billed_hours) as billed_hours"],
  },
  pull_request: {
    member: "pull_request",
    carries: ["bool_or(reverted) as reverted", "bool_or(run is not null) as joined"],
    again: ["bool_or(reverted) as reverted", "bool_or(joined) as joined"],
  },
  review: { member: "review", carries: [], again: [] },
  /** Sessions of merges, with what each of them cost. */
  merge_session: {
    member: "run",
    carries: ["max(session_cost_usd) as session_cost_usd"],
    again: ["max(session_cost_usd) as session_cost_usd"],
  },
} as const satisfies Record<string, { member: string; carries: string[]; again: string[] }>;
export type DistinctName = keyof typeof DISTINCT;

/**
 * What is summed or counted in SQL. `records`: over facts that are single records, with the columns of relations.ts;
 * `cells`: over facts that are sums of records (rollup/cells.ts), and over sums by one dimension. `distinct`: over the members of
 * DISTINCT instead, by both kinds of facts; `ofMerges`: likewise, but of source outcomes alone. `atOnce`: over the single
 * records of ClickHouse, where that differs (engines.ts). `billed` leaves out the subscription lane. `money` sums are lower bounds where a record is `uncertain`. `empty` is the value over no records.
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
const usd = (records: string, cells: string): Aggregate => ({ records, cells, empty: "0", money: true });
const distinct = (name: DistinctName, sql: string, atOnce: string): Aggregate => ({
  ...count("null"),
  distinct: { name, sql, atOnce },
});
const { distinct: once, sumOnce } = CLICKHOUSE_COUNTS;

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
      atOnce: sumOnce("run", "session_cost_usd"),
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
    records: POSTGRES.percentile95("latency_ms"),
    atOnce: CLICKHOUSE.percentile95("latency_ms"),
    cells: "sum(latencies)",
    empty: null,
    money: false,
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
} as const satisfies Record<string, Aggregate>;

export type AggregateName = keyof typeof AGGREGATES;
export const aggregateOf = (name: AggregateName): Aggregate => AGGREGATES[name];
const AGGREGATE_NAMES = Object.keys(AGGREGATES) as AggregateName[];

/** Those of the columns `among` that SQL names, in its order. */
export function namedIn<Name extends string>(sqls: readonly string[], among: readonly Name[]): Name[] {
  const words = new Set<string>(sqls.flatMap((sql) => sql.match(/\w+/g) ?? []));
  const isAmong = (word: string): word is Name => among.some((name) => name === word);
  return [...words].filter(isAmong);
}

/** The aggregates of one group in one window; `floor` where its money is a lower bound. */
export type Aggregates = { floor: boolean; of: Partial<Record<AggregateName, Exact | null>> };

/** How a figure comes out of aggregates. A `per` over zero is null; a `share` is of the total of the same window. */
export type Measure =
  | { kind: "base"; of: AggregateName }
  | { kind: "per"; of: AggregateName; per: AggregateName; times: bigint }
  | { kind: "share"; of: AggregateName }
  | { kind: "change"; of: AggregateName };

const base = (of: AggregateName): Measure => ({ kind: "base", of });
const per = (of: AggregateName, under: AggregateName, times = 1n): Measure => ({
  kind: "per",
  of,
  per: under,
  times,
});
const share = (of: AggregateName): Measure => ({ kind: "share", of });
const change = (of: AggregateName): Measure => ({ kind: "change", of });

/** Every measure of the contract. Money per piece is over billed pieces, as its cost is over billed records. */
export const MEASURE = {
  requests: base("records"),
  input_tokens: base("input_tokens"),
  output_tokens: base("output_tokens"),
  total_tokens: base("total_tokens"),
  cached_tokens: base("cached_tokens"),
  cost_usd: base("cost_usd"),
  unpriced_requests: base("unpriced"),
  users: base("users"),
  sessions: base("sessions"),
  active_hours: base("active_hours"),
  latency_avg_ms: per("latency_sum_ms", "latency_count"),
  latency_p95_ms: base("latency_p95_ms"),
  ttft_avg_ms: per("ttft_sum_ms", "ttft_count"),
  cost_share: share("cost_usd"),
  request_share: share("records"),
  cost_per_user: per("cost_usd", "billed_users"),
  requests_per_user: per("records", "users"),
  cost_per_1k_requests: per("cost_usd", "billed_records", 1_000n),
  tokens_per_request: per("total_tokens", "records"),
  cost_per_1m_tokens: per("token_cost_usd", "billed_tokens", 1_000_000n),
  cost_per_1k_sessions: per("session_cost_usd", "billed_sessions", 1_000n),
  cost_per_active_hour: per("session_cost_usd", "billed_hours"),
  cache_hit_rate: per("cached_tokens", "input_tokens"),
  cost_decomposition: change("cost_usd"),
  calls: base("records"),
  ok: base("ok"),
  failed: base("failed"),
  unknown: base("unknown"),
  denied: base("denied"),
  pending: base("pending"),
  unpriced_calls: base("unpriced"),
  cost_per_ok_call: per("cost_usd", "billed_ok"),
  operations: base("operations"),
  estimated_cost_usd: base("cost_usd"),
  merged_prs: base("merged_prs"),
  reverted_prs: base("reverted_prs"),
  revert_rate: per("reverted_prs", "merged_prs"),
  reviews: base("reviews"),
  joined_prs: base("joined_prs"),
  cost_per_merged_pr: per("cost_usd", "merged_prs"),
} as const satisfies Record<MeasureName, Measure>;

export const isMoney = (measure: MeasureName): boolean => AGGREGATES[MEASURE[measure].of].money;

/** What the decomposition of a cost change is computed from, beside the cost itself (decompose.ts). */
const DECOMPOSED = [
  "billed_users",
  "billed_records",
  "unpriced",
  "priced_input_tokens",
  "priced_output_tokens",
  "token_cost_usd",
] as const satisfies readonly AggregateName[];

/** The aggregates that the measures are made of, in the order of `AGGREGATES`. */
export function aggregatesOf(measures: readonly MeasureName[]): AggregateName[] {
  const needed = new Set<AggregateName>();
  for (const name of measures) {
    const measure: Measure = MEASURE[name];
    needed.add(measure.of);
    if (measure.kind === "per") needed.add(measure.per);
    if (measure.kind === "change") for (const factor of DECOMPOSED) needed.add(factor);
  }
  return AGGREGATE_NAMES.filter((name) => needed.has(name));
}
