import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { boundedText, closed, Flag, Numeral, nullable, oneOf, Text, TextOrNull } from "./schema.ts";

/** Where a report's figures come from: gateway calls, tool calls, agents' own metrics, or pull requests. */
export const SOURCES = ["requests", "tool_calls", "agent_metrics", "outcomes"] as const;
export type SourceName = (typeof SOURCES)[number];

/** The dimensions of the payload (report-payload.ts), whose schema is closed. */
export const PAYLOAD_DIMENSIONS = [
  ...["client", "model", "route", "subject", "key", "team", "cost_center", "channel"],
  ...["tag", "session", "server", "tool", "repository", "day", "week", "month"],
] as const;
/** With those that only `POST /v1/reports/query` takes. */
export const DIMENSIONS = [
  ...PAYLOAD_DIMENSIONS,
  ...(["explanation", "author", "pull_request", "pr_kind", "pr_lines", "pr_files"] as const),
  ...(["provider", "surface", "error", "tier", "quarter", "hour_of_day"] as const),
] as const;
export type DimensionName = (typeof DIMENSIONS)[number];

export type Unit = "count" | "tokens" | "USD" | "ms" | "hours" | "fraction";

export const MEASURE_MEANING = {
  requests: ["count", "Recorded calls."],
  input_tokens: ["tokens", "Input tokens, including cache reads and writes."],
  output_tokens: ["tokens", "Output tokens, including reasoning."],
  total_tokens: ["tokens", "Input and output tokens."],
  cached_tokens: ["tokens", "Input tokens read from the provider's cache."],
  cost_usd: ["USD", "Known cost. For outcomes: the whole cost of the joined sessions."],
  unpriced_requests: ["count", "Answered calls whose cost is unknown."],
  users: ["count", "Number of people: by user label, else by the key's owner. Excludes service accounts."],
  sessions: ["count", "Distinct session ids."],
  active_hours: ["hours", "Distinct pairs of a session and a UTC hour in which it made a call."],
  latency_avg_ms: ["ms", "Mean time from the complete request to the last byte of the answer."],
  latency_p95_ms: [
    "ms",
    "95th percentile of latency: exact up to 20,000 requests, above that less than 18.9% off.",
  ],
  ttft_avg_ms: ["ms", "Mean time to the first content of streamed answers."],
  cost_share: ["fraction", "Cost ÷ the total's cost in the same window."],
  request_share: ["fraction", "Requests ÷ the total's requests in the same window."],
  cost_per_user: ["USD", "Cost ÷ users."],
  requests_per_user: ["count", "Requests ÷ users."],
  cost_per_1k_requests: ["USD", "Cost ÷ requests × 1,000."],
  tokens_per_request: ["tokens", "Total tokens ÷ requests."],
  cost_per_1m_tokens: ["USD", "Cost of tokens only ÷ total tokens × 1,000,000."],
  cost_per_1k_sessions: ["USD", "Cost of calls with a session ÷ sessions × 1,000."],
  cost_per_active_hour: ["USD", "Cost of calls with a session ÷ active hours."],
  cache_hit_rate: ["fraction", "Cached tokens ÷ input tokens."],
  cost_decomposition: ["USD", "Change in cost since the previous period; its parts are in `decomposition`."],
  calls: ["count", "Tool calls."],
  ok: ["count", "Tool calls that returned a result."],
  failed: ["count", "Tool calls that ended with an error."],
  unknown: ["count", "Tool calls whose end is unknown."],
  denied: ["count", "Tool calls that were refused."],
  pending: ["count", "Tool calls that have not ended yet."],
  unpriced_calls: ["count", "Tool calls whose cost is unknown."],
  cost_per_ok_call: ["USD", "Cost ÷ tool calls that returned a result."],
  operations: ["count", "Operations that agents report about themselves."],
  estimated_cost_usd: [
    "USD",
    "Cost of what agents report about themselves. Never added to the gateway's own.",
  ],
  merged_prs: ["count", "Pull requests merged in the window."],
  reverted_prs: ["count", "Of those, the ones reverted at any time."],
  revert_rate: ["fraction", "Reverted ÷ merged pull requests."],
  reviews: ["count", "Submitted reviews whose body names exactly one session."],
  joined_prs: ["count", "Merged pull requests whose body names exactly one session that has calls."],
  cost_per_merged_pr: ["USD", "Cost of the joined sessions ÷ all merged pull requests."],
  costed_prs: [
    "count",
    "Merged pull requests of known cost: the number of costs that the next figures are of.",
  ],
  median_cost_per_pr: ["USD", "Median cost of these."],
  p90_cost_per_pr: ["USD", "The cost that 90% of these do not exceed (nearest rank)."],
  median_low_usd: ["USD", "Lower end of the median's 95% confidence interval; null for fewer than 8."],
  median_high_usd: ["USD", "Its upper end."],
  reverted_cost_usd: ["USD", "Cost of those merged in the window that are reverted now."],
  review_fix_cost_usd: [
    "USD",
    "Part of the cost that calls after the first review by another person than the author had.",
  ],
  reasoning_tokens: ["tokens", "Output tokens spent on reasoning, as far as providers report them."],
  cache_write_tokens: ["tokens", "Input tokens written to the provider's cache, where it reports them."],
  error_rate: ["fraction", "Calls that ended with an error, refusals included, ÷ all calls."],
  latency_p50_ms: ["ms", "Median latency."],
  ttft_p95_ms: ["ms", "95th percentile of the time to the first content of streamed answers."],
  list_cost_usd: ["USD", "Cost at the public list's prices."],
  savings_usd: ["USD", "List cost − cost, of calls for which both are known."],
  savings_cache_usd: [
    "USD",
    "What input tokens that were cached would have cost uncached − their cost, writes to the cache included.",
  ],
  billed_cost_usd: [
    "USD",
    "What the vendor's bill says, spread over calls by their cost: use by the day; taxes, credits and fees by the month. Null without a bill.",
  ],
  effective_cost_usd: ["USD", "Cost, where a commitment or a credit covers it by what was paid for that."],
  budget_usd: [
    "USD",
    "Budget of the row's team, subject, key, route or tag, or of the organisation, of a window that is a day, week, month or quarter, or one up to now. The smallest of several, as set now.",
  ],
  budget_used: [
    "fraction",
    "Cost ÷ budget. Null in rows of teams that have teams below, which count in their budget: filter by the team.",
  ],
} as const satisfies Record<string, readonly [unit: Unit, meaning: string]>;
export type MeasureName = keyof typeof MEASURE_MEANING;
// The keys of the table and nothing else, in its order.
export const MEASURES = Object.keys(MEASURE_MEANING) as MeasureName[];
/** The measures of the payload: those after them exist in queries alone. */
export const PAYLOAD_MEASURES = MEASURES.slice(0, MEASURES.indexOf("costed_prs"));

export const RANGES = ["7d", "30d", "mtd", "last_month"] as const;
export type RangeName = (typeof RANGES)[number];

export const COMPARES = ["none", "previous_period"] as const;
export type Compare = (typeof COMPARES)[number];

export const VIEWS = ["table", "bar", "line", "stacked", "waterfall"] as const;

/** Most rows that a result holds. */
export const ROWS_MAX = 1000;

/** An object that may hold any of the named members and no other. */
export const someOf = <N extends string, T extends TSchema>(names: readonly N[], member: T) => {
  const members = Object.fromEntries(names.map((name) => [name, Type.Optional(member)]));
  return Type.Unsafe<Partial<Record<N, Static<T>>>>(closed(members));
};

const Instant = Text("RFC 3339 in UTC, with milliseconds and Z.");

export const filtersBy = <N extends DimensionName>(names: readonly N[]) =>
  someOf(names, Type.Array(boundedText({ minLength: 1, maxLength: 200 }), { maxItems: 50 }));
export const Filters = filtersBy(DIMENSIONS);
export type Filters = Static<typeof Filters>;

export const Range = Type.Union([
  oneOf(RANGES),
  closed({
    from: TextOrNull("Date, or date and time; null for the first record."),
    to: TextOrNull("Date (including that day), or date and time; null for now."),
  }),
]);
export type Range = Static<typeof Range>;

/** A report query (spec, Spec object). Filters: AND across dimensions, OR within one. */
export const Spec = closed({
  source: oneOf(SOURCES),
  dimensions: Type.Array(oneOf(DIMENSIONS), { maxItems: 3 }),
  measures: Type.Array(oneOf(MEASURES), { minItems: 1, maxItems: 40 }),
  filters: Filters,
  range: Range,
  compare: oneOf(COMPARES),
  view: oneOf(VIEWS),
});
export type Spec = Static<typeof Spec>;

/** Half-open: includes `from`, excludes `to`. Null `from`: starts at the first record. */
export const Window = closed({ from: nullable(Instant), to: nullable(Instant) });
export type Window = Static<typeof Window>;

/** The measures asked for; null is unknown or undefined, never 0. */
export const figuresOf = (measures: readonly MeasureName[]) => someOf(measures, nullable(Type.Number()));
export const Figures = figuresOf(MEASURES);
export type Figures = Static<typeof Figures>;

/** One group, or (as `total`, without groups) all records of the windows. A side without records is null. */
export const Row = closed({
  groups: Type.Array(Type.String()),
  current: nullable(Figures),
  previous: nullable(Figures),
  delta: nullable(Figures),
  floor: Flag("The money of `current` is a lower bound."),
  previousFloor: Flag("The money of `previous` is a lower bound."),
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
    pricePerToken: Numeral("By prices, but also by the mix of models and by caching."),
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
