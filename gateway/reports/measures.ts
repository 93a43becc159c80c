import type { MeasureName } from "#shared/report.ts";
import { words } from "#shared/words.ts";
import { AGGREGATE_NAMES, AGGREGATES, type AggregateName } from "./aggregates.ts";

/** How a figure comes from aggregates. `per` zero is null; a `share` is of the window's total, `used` of a budget. */
export type Measure =
  | { kind: "base"; of: AggregateName }
  | { kind: "per"; of: AggregateName; per: AggregateName; times: bigint }
  | { kind: "share"; of: AggregateName }
  | { kind: "change"; of: AggregateName }
  | { kind: "budget" | "used"; of: AggregateName };

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
  costed_prs: base("costed_prs"),
  median_cost_per_pr: base("median_cost"),
  p90_cost_per_pr: base("p90_cost"),
  median_low_usd: base("median_low"),
  median_high_usd: base("median_high"),
  reverted_cost_usd: base("reverted_cost"),
  review_fix_cost_usd: base("fix_cost"),
  reasoning_tokens: base("reasoning_tokens"),
  cache_write_tokens: base("cache_write_tokens"),
  error_rate: per("errors", "records"),
  latency_p50_ms: base("latency_p50_ms"),
  ttft_p95_ms: base("ttft_p95_ms"),
  list_cost_usd: base("list_cost_usd"),
  savings_usd: base("savings_usd"),
  savings_cache_usd: base("savings_cache_usd"),
  billed_cost_usd: base("billed_cost_usd"),
  effective_cost_usd: base("effective_cost_usd"),
  budget_usd: { kind: "budget", of: "cost_usd" },
  budget_used: { kind: "used", of: "cost_usd" },
} as const satisfies Record<MeasureName, Measure>;

export const isMoney = (measure: MeasureName): boolean => AGGREGATES[MEASURE[measure].of].money;

/** What a row's budget says, which is known after the statement. */
export const isBudget = (measure: MeasureName | undefined): boolean =>
  measure === "budget_usd" || measure === "budget_used";

/** What the decomposition of a cost change is computed from, beside the cost itself (decompose.ts). */
const DECOMPOSED = words(
  "billed_users billed_records unpriced priced_input_tokens priced_output_tokens token_cost_usd",
) satisfies readonly AggregateName[];

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
