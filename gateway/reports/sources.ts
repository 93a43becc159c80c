import {
  COMPARES,
  DIMENSIONS,
  type DimensionName,
  MEASURE_MEANING,
  MEASURES,
  type MeasureName,
  RANGES,
  SOURCES,
  type SourceName,
  VIEWS,
} from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { words } from "#shared/words.ts";
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

const WHO = ["subject", "key", "team", "cost_center"] as const;
const RECORDED = [...WHO, "channel", "tag", "session"] as const;
const OF_PULL_REQUESTS = ["author", "pull_request", "pr_kind", "pr_lines", "pr_files"] as const;
const TIMES = ["day", "week", "month", "quarter", "hour_of_day"] as const;

export const SOURCE = {
  requests: {
    measures: words(
      "requests input_tokens output_tokens total_tokens cached_tokens cost_usd unpriced_requests users sessions",
      "active_hours latency_avg_ms latency_p95_ms ttft_avg_ms cost_share request_share cost_per_user",
      "requests_per_user cost_per_1k_requests tokens_per_request cost_per_1m_tokens cost_per_1k_sessions",
      "cost_per_active_hour cache_hit_rate cost_decomposition reasoning_tokens cache_write_tokens error_rate",
      "latency_p50_ms ttft_p95_ms list_cost_usd savings_usd savings_cache_usd billed_cost_usd effective_cost_usd",
      "budget_usd budget_used",
    ),
    dimensions: [
      ...(["client", "model", "route", ...RECORDED, ...TIMES, "explanation"] as const),
      ...(["provider", "surface", "error", "tier"] as const),
    ],
    labels: { session: known("session"), tag: some("tags"), ...TEAM },
  },
  tool_calls: {
    measures: words(
      "calls ok failed unknown denied pending unpriced_calls cost_usd cost_share cost_per_ok_call users",
      "sessions latency_avg_ms latency_p95_ms latency_p50_ms",
    ),
    dimensions: ["client", ...RECORDED, "server", "tool", "error", ...TIMES],
    labels: { session: known("session"), tag: some("tags"), ...TEAM },
  },
  agent_metrics: {
    measures: words(
      "operations input_tokens output_tokens total_tokens cached_tokens estimated_cost_usd users sessions",
      "active_hours latency_avg_ms reasoning_tokens cache_write_tokens",
    ),
    dimensions: ["client", "model", "provider", "error", ...WHO, "session", ...TIMES],
    labels: { session: known("session"), ...TEAM, model: known("model") },
  },
  outcomes: {
    measures: words(
      "merged_prs reverted_prs revert_rate reviews joined_prs cost_per_merged_pr cost_usd users sessions",
      "costed_prs median_cost_per_pr p90_cost_per_pr median_low_usd median_high_usd reverted_cost_usd",
      "review_fix_cost_usd",
    ),
    dimensions: ["repository", ...WHO, "session", ...TIMES, ...OF_PULL_REQUESTS],
    labels: { session: known("session"), ...TEAM, subject: attributed, key: attributed },
  },
} as const satisfies Record<SourceName, Source>;

export const sourceOf = (name: SourceName): Source => SOURCE[name];

/** What each source can be asked, from the tables that decide it. */
export const ASKABLE: ReportCatalogue = {
  sources: SOURCES.map((name) => {
    const source = sourceOf(name);
    return {
      name,
      dimensions: DIMENSIONS.filter((dimension) => source.dimensions.includes(dimension)),
      measures: [...source.measures],
    };
  }),
  measures: MEASURES.map((name) => {
    const [unit, meaning] = MEASURE_MEANING[name];
    return { name, unit, meaning };
  }),
  ranges: [...RANGES],
  compares: [...COMPARES],
  views: [...VIEWS],
};
