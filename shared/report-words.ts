import type { DimensionName, MeasureName } from "./report.ts";

// What people call the dimensions and measures of reports, in the console and on the command line.

const DIMENSION_WORDS: Readonly<Record<DimensionName, string>> = {
  team: "Team",
  cost_center: "Cost centre",
  client: "Client",
  model: "Model",
  route: "Route",
  subject: "Person",
  key: "Key",
  channel: "Channel",
  tag: "Tag",
  session: "Session",
  server: "Tool server",
  tool: "Tool",
  repository: "Repository",
  day: "Day",
  week: "Week",
  month: "Month",
  explanation: "Explanation",
  author: "Author",
  pull_request: "Pull request",
  pr_kind: "Kind",
  pr_lines: "Lines changed",
  pr_files: "Files changed",
  provider: "Provider",
  surface: "Surface",
  error: "Error",
  tier: "Tier",
  quarter: "Quarter",
  hour_of_day: "Hour of the day",
};

export const dimensionWord = (name: DimensionName): string => DIMENSION_WORDS[name];

const MEASURE_WORDS: Readonly<Partial<Record<MeasureName, string>>> = {
  cost_usd: "Cost",
  estimated_cost_usd: "Estimated cost",
  ttft_avg_ms: "First token, mean",
  latency_avg_ms: "Latency, mean",
  latency_p95_ms: "Latency, 95 %",
  users: "People",
  cost_per_user: "Cost per person",
  requests_per_user: "Requests per person",
  cost_per_1k_requests: "Cost per 1,000 requests",
  cost_per_1k_sessions: "Cost per 1,000 sessions",
  cost_per_1m_tokens: "Cost per million tokens",
  cost_decomposition: "Change in cost",
  merged_prs: "Merged pull requests",
  reverted_prs: "Reverted",
  joined_prs: "Joined",
  cost_per_merged_pr: "Cost per merged pull request",
  costed_prs: "Pull requests of known cost",
  median_cost_per_pr: "Median cost",
  p90_cost_per_pr: "90 % cost at most",
  median_low_usd: "Median, at least",
  median_high_usd: "Median, at most",
  reverted_cost_usd: "Cost of what was reverted",
  review_fix_cost_usd: "Cost after the first review",
  ok: "Succeeded",
  latency_p50_ms: "Latency, median",
  ttft_p95_ms: "First token, 95 %",
  list_cost_usd: "List cost",
  savings_usd: "Saved against the list",
  savings_cache_usd: "Saved by caching",
  billed_cost_usd: "Billed cost",
  effective_cost_usd: "Effective cost",
  budget_usd: "Budget",
};

/** `cost_of_a_merge` as `Cost of a merge`. */
export const sentence = (name: string): string => {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const measureWord = (name: MeasureName): string => MEASURE_WORDS[name] ?? sentence(name);
