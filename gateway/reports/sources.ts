import type { DimensionName, MeasureName, SourceName } from "#shared/report.ts";

/**
 * Which measures and dimensions go with a source. `labels` are the dimensions that a
 * record may lack, with the condition of having one: they are what `coverage` tells about.
 */
type Source = {
  measures: readonly MeasureName[];
  dimensions: readonly DimensionName[];
  labels: Partial<Record<DimensionName, string>>;
};

const SESSION = "r.session is not null";
const TAG = "cardinality(r.tags) > 0";
const TEAM = { team: "r.teams is not null", cost_center: "r.cost_center is not null" };

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
    labels: { session: SESSION, tag: TAG, ...TEAM },
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
    labels: { session: SESSION, tag: TAG, ...TEAM },
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
    labels: { session: SESSION, ...TEAM, model: "r.model is not null" },
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
    labels: { session: SESSION, ...TEAM, subject: "r.attributed", key: "r.attributed" },
  },
} as const satisfies Record<SourceName, Source>;

export const sourceOf = (name: SourceName): Source => SOURCE[name];
