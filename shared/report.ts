import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, textOf } from "./schema.ts";

/** Where a report's figures come from: gateway calls, tool calls, agents' own metrics, or pull requests. */
export const SOURCES = ["requests", "tool_calls", "agent_metrics", "outcomes"] as const;
export type SourceName = (typeof SOURCES)[number];

export const DIMENSIONS = [
  "client",
  "model",
  "route",
  "subject",
  "key",
  "channel",
  "tag",
  "session",
  "server",
  "tool",
  "repository",
  "day",
  "week",
  "month",
] as const;
export type DimensionName = (typeof DIMENSIONS)[number];

export const MEASURES = [
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
  "calls",
  "ok",
  "failed",
  "unknown",
  "denied",
  "pending",
  "unpriced_calls",
  "cost_per_ok_call",
  "operations",
  "estimated_cost_usd",
  "merged_prs",
  "reverted_prs",
  "revert_rate",
  "reviews",
  "joined_prs",
  "cost_per_merged_pr",
] as const;
export type MeasureName = (typeof MEASURES)[number];

export const RANGES = ["7d", "30d", "mtd", "last_month"] as const;
export type RangeName = (typeof RANGES)[number];

export const COMPARES = ["none", "previous_period"] as const;
export type Compare = (typeof COMPARES)[number];

export const VIEWS = ["table", "bar", "line", "stacked", "waterfall"] as const;

/** Most rows that a result holds. */
export const ROWS_MAX = 1000;

/** An object that may hold any of the named members and no other. */
const someOf = <N extends string, T extends TSchema>(names: readonly N[], member: T) => {
  const members = Object.fromEntries(names.map((name) => [name, Type.Optional(member)]));
  return Type.Unsafe<Partial<Record<N, Static<T>>>>(closed(members));
};

const Instant = Type.String({ description: "RFC 3339 in UTC, with milliseconds and Z." });

export const Filters = someOf(
  DIMENSIONS,
  Type.Array(textOf({ minLength: 1, maxLength: 200 }), { maxItems: 50 }),
);
export type Filters = Static<typeof Filters>;

export const Range = Type.Union([
  oneOf(RANGES),
  closed({
    from: nullable(Type.String({ description: "Date or date and time; null is since the first record." })),
    to: nullable(Type.String({ description: "Date (that day included) or date and time; null is now." })),
  }),
]);
export type Range = Static<typeof Range>;

/** What is asked (spec, Spec object). Filters: AND across dimensions, OR within one. */
export const Spec = closed({
  source: oneOf(SOURCES),
  dimensions: Type.Array(oneOf(DIMENSIONS), { maxItems: 2 }),
  measures: Type.Array(oneOf(MEASURES), { minItems: 1, maxItems: 40 }),
  filters: Filters,
  range: Range,
  compare: oneOf(COMPARES),
  view: oneOf(VIEWS),
});
export type Spec = Static<typeof Spec>;

/** Half-open: `from` belongs to it, `to` does not. A null `from` reaches back to the first record. */
export const Window = closed({ from: nullable(Instant), to: nullable(Instant) });
export type Window = Static<typeof Window>;

/** The measures asked for; null is unknown or undefined, never 0. */
export const Figures = someOf(MEASURES, nullable(Type.Number()));
export type Figures = Static<typeof Figures>;

/** One group, or (as `total`, without groups) all records of the windows. A side without records is null. */
export const Row = closed({
  groups: Type.Array(Type.String()),
  current: nullable(Figures),
  previous: nullable(Figures),
  delta: nullable(Figures),
  floor: Type.Boolean({ description: "The money of `current` is a lower bound." }),
  previousFloor: Type.Boolean({ description: "The money of `previous` is a lower bound." }),
});
export type Row = Static<typeof Row>;

/** Why the cost changed, in USD; `parts` and `unmodelledUsd` add up to `deltaUsd`. */
export const Decomposition = closed({
  previousUsd: Type.Number(),
  currentUsd: Type.Number(),
  deltaUsd: Type.Number(),
  parts: closed({
    users: Type.Number(),
    requestsPerUser: Type.Number(),
    inputTokensPerRequest: Type.Number(),
    outputTokensPerRequest: Type.Number(),
    pricePerToken: Type.Number(),
  }),
  unmodelledUsd: Type.Number(),
  floor: Type.Boolean(),
});
export type Decomposition = Static<typeof Decomposition>;

/** Records of the windows that are older than the first one with the label asked for. */
export const Coverage = closed({
  dimensionsSince: nullable(Instant),
  rowsBefore: Type.Number(),
  previousRowsBefore: nullable(Type.Number()),
});
export type Coverage = Static<typeof Coverage>;

export const Result = closed({
  spec: Spec,
  window: Window,
  previousWindow: nullable(Window),
  rows: Type.Array(Row),
  total: Row,
  decomposition: nullable(Decomposition),
  coverage: nullable(Coverage),
});
export type Result = Static<typeof Result>;

export const Report = closed({
  id: Type.String(),
  title: Type.String(),
  description: Type.String(),
  result: nullable(Result),
});
export type Report = Static<typeof Report>;

/** The reporting payload (spec, Report result). */
export const ReportPayload = closed({
  reports: Type.Array(Report),
  subscription: Result,
  agentEstimate: Result,
});
export type ReportPayload = Static<typeof ReportPayload>;

/** The payload's JSON Schema, draft 2020-12, as `GET /v1/reports/schema.json` answers it. */
export const REPORT_JSON_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Report payload",
  ...ReportPayload,
};
