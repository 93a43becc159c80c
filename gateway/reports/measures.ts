import type { MeasureName } from "#shared/report.ts";
import type { Fraction } from "./fraction.ts";

/**
 * What is summed or counted in SQL, over the columns that every relation of relations.ts has. `billed` leaves out the
 * subscription lane (decision: A caller's own subscription can pay). `money` sums are lower bounds where a record is `uncertain`.
 * `empty` is the value over no records at all.
 */
type Aggregate = { sql: string; empty: "0" | null; money: boolean; distinct?: Distinct };

/** What is counted once for all records that agree in `by`, of which the first is not null, if one is `where` (null: any). */
type Distinct = { by: readonly string[]; where: string | null };

const count = (sql: string): Aggregate => ({ sql, empty: "0", money: false });
const tokens = (sql: string, where = "true"): Aggregate =>
  count(`coalesce(sum((${sql})::bigint) filter (where ${where}), 0)`);
const distinct = (of: string, where: string | null = null): Aggregate => ({
  ...count(`count(distinct ${of})${where ? ` filter (where ${where})` : ""}`),
  distinct: { by: [of], where },
});
const usd = (column: string, where: string): Aggregate => ({
  sql: `sum(${column}) filter (where ${where})`,
  empty: "0",
  money: true,
});

const HOUR = "floor(date_part('epoch', started_at) / 3600)::bigint";
/** Pairs of a session and a UTC hour; in one count as one text, which is sorted several times faster. */
const hours = (where: string | null = null): Aggregate => ({
  ...count(
    `count(distinct run || ' ' || ${HOUR}) filter (where ${where ? `${where} and ` : ""}run is not null)`,
  ),
  distinct: { by: ["run", HOUR], where },
});
const TOTAL = "coalesce(input_tokens, 0)::bigint + coalesce(output_tokens, 0)";

/** The only place where figures meet SQL. */
export const AGGREGATES = {
  records: count("count(*)"),
  billed_records: count("count(*) filter (where billed)"),
  unpriced: count("count(*) filter (where billed and unpriced)"),
  input_tokens: tokens("input_tokens"),
  output_tokens: tokens("output_tokens"),
  total_tokens: tokens(TOTAL),
  cached_tokens: tokens("cached_tokens"),
  billed_tokens: tokens(TOTAL, "billed"),
  priced_input_tokens: tokens("input_tokens", "billed and token_cost_usd is not null"),
  priced_output_tokens: tokens("output_tokens", "billed and token_cost_usd is not null"),
  cost_usd: usd("cost_usd", "billed"),
  token_cost_usd: usd("token_cost_usd", "billed"),
  session_cost_usd: usd("cost_usd", "billed and run is not null"),
  users: distinct("person"),
  billed_users: distinct("person", "billed"),
  sessions: distinct("run"),
  billed_sessions: distinct("run", "billed"),
  active_hours: hours(),
  billed_hours: hours("billed"),
  latency_sum_ms: count("coalesce(sum(latency_ms), 0)"),
  latency_count: count("coalesce(sum(timed), 0)"),
  /**
   * Linear between the two nearest ranks, as spreadsheets' PERCENTILE.INC: of whole milliseconds a multiple of 1/20, so
   * that rounding takes away nothing but what Postgres's floats leave behind.
   */
  latency_p95_ms: {
    sql: "round((percentile_cont(0.95) within group (order by latency_ms))::numeric, 2)",
    empty: null,
    money: false,
  },
  ttft_sum_ms: count("coalesce(sum(ttft_ms), 0)"),
  ttft_count: count("count(ttft_ms)"),
  ok: count("count(*) filter (where status = 'ok')"),
  failed: count("count(*) filter (where status = 'failed')"),
  unknown: count("count(*) filter (where status = 'unknown')"),
  denied: count("count(*) filter (where status = 'denied')"),
  pending: count("count(*) filter (where status = 'pending')"),
  billed_ok: count("count(*) filter (where billed and status = 'ok')"),
  operations: count("coalesce(sum(operations), 0)"),
  merged_prs: distinct("pull_request"),
  reverted_prs: distinct("pull_request", "reverted"),
  joined_prs: distinct("pull_request", "run is not null"),
  reviews: distinct("review"),
} as const satisfies Record<string, Aggregate>;

export type AggregateName = keyof typeof AGGREGATES;

/** The columns of relations that aggregates name. */
const COLUMNS = [
  "person",
  "run",
  "started_at",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cost_usd",
  "token_cost_usd",
  "unpriced",
  "latency_ms",
  "timed",
  "ttft_ms",
  "status",
  "operations",
  "pull_request",
  "reverted",
  "review",
] as const;

/** Those of the columns `among` that SQL names, in its order. */
export function namedIn<Name extends string>(sqls: readonly string[], among: readonly Name[]): Name[] {
  const words = new Set<string>(sqls.flatMap((sql) => sql.match(/\w+/g) ?? []));
  const isAmong = (word: string): word is Name => among.some((name) => name === word);
  return [...words].filter(isAmong);
}

/** The columns of relations that these aggregates are made of. */
export const columnsOf = (names: readonly AggregateName[]): string[] =>
  namedIn(
    names.map((name) => AGGREGATES[name].sql),
    COLUMNS,
  );

/** The aggregates of one group in one window; `floor` where its money is a lower bound. */
export type Sums = { floor: boolean; of: Partial<Record<AggregateName, Fraction | null>> };

/** Whether a row's money is a lower bound (decision: `null` is unknown, `floor` is a lower bound). */
export const FLOOR_SQL = "coalesce(bool_or(billed and uncertain), false)";

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
  return (Object.keys(AGGREGATES) as AggregateName[]).filter((name) => needed.has(name));
}
