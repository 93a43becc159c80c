import type { DimensionName, MeasureName, SourceName } from "#shared/report.ts";
import type { Engine } from "./engines.ts";

/**
 * Which measures and dimensions go with a source. `labels` are the dimensions that a
 * record may lack, with the condition of having one: they are what `coverage` tells about.
 */
type Source = {
  measures: readonly MeasureName[];
  dimensions: readonly DimensionName[];
  labels: Partial<Record<DimensionName, Condition>>;
};
type Condition = (engine: Engine) => string;

const known =
  (column: string): Condition =>
  () =>
    `r.${column} is not null`;
const some =
  (column: string): Condition =>
  ({ hasItems }) =>
    hasItems(`r.${column}`);
const attributed: Condition = () => "r.attributed";
const TEAM = { team: some("teams"), cost_center: known("cost_center") };

export const SOURCE = {
  requests: {
    measures: [
      "requests",
      "input_tokens",
      "output_tokens",
      "total_tokens",
      "cached_tokens",
      "cost_usd",
      "unpriced_requests",
      "users",
      "sessions",
      "active_hours",
      "latency_avg_ms",
      "latency_p95_ms",
      "ttft_avg_ms",
      "cost_share",
      "request_share",
      "cost_per_user",
      "requests_per_user",
      "cost_per_1k_requests",
      "tokens_per_request",
      "cost_per_1m_tokens",
      "cost_per_1k_sessions",
      "cost_per_active_hour",
      "cache_hit_rate",
      "cost_decomposition",
    ],
    dimensions: [
      "client",
      "model",
      "route",
      "subject",
      "key",
      "team",
      "cost_center",
      "channel",
      "tag",
      "session",
      "day",
      "week",
      "month",
    ],
    labels: { session: known("session"), tag: some("tags"), ...TEAM },
  },
  tool_calls: {
    measures: [
      "calls",
      "ok",
      "failed",
      "unknown",
      "denied",
      "pending",
      "unpriced_calls",
      "cost_usd",
      "cost_share",
      "cost_per_ok_call",
      "users",
      "sessions",
      "latency_avg_ms",
      "latency_p95_ms",
    ],
    dimensions: [
      "client",
      "subject",
      "key",
      "team",
      "cost_center",
      "channel",
      "tag",
      "session",
      "server",
      "tool",
      "day",
      "week",
      "month",
    ],
    labels: { session: known("session"), tag: some("tags"), ...TEAM },
  },
  agent_metrics: {
    measures: [
      "operations",
      "input_tokens",
      "output_tokens",
      "total_tokens",
      "cached_tokens",
      "estimated_cost_usd",
      "users",
      "sessions",
      "active_hours",
      "latency_avg_ms",
    ],
    dimensions: [
      "client",
      "model",
      "subject",
      "key",
      "team",
      "cost_center",
      "session",
      "day",
      "week",
      "month",
    ],
    labels: { session: known("session"), ...TEAM, model: known("model") },
  },
  outcomes: {
    measures: [
      "merged_prs",
      "reverted_prs",
      "revert_rate",
      "reviews",
      "joined_prs",
      "cost_per_merged_pr",
      "cost_usd",
      "users",
      "sessions",
    ],
    dimensions: ["repository", "subject", "key", "team", "cost_center", "session", "day", "week", "month"],
    labels: { session: known("session"), ...TEAM, subject: attributed, key: attributed },
  },
} as const satisfies Record<SourceName, Source>;

export const sourceOf = (name: SourceName): Source => SOURCE[name];
