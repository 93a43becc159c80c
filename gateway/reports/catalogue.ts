import type { Spec } from "#shared/report.ts";
import { words } from "#shared/words.ts";

/** A report that is there from the start. Range, comparison and filters come from who asks. */
export type CatalogueEntry = {
  id: string;
  title: string;
  description: string;
  spec: Pick<Spec, "source" | "dimensions" | "measures" | "view"> & Partial<Pick<Spec, "range">>;
};

const SPEND = ["cost_usd", "cost_share", "requests", "total_tokens", "users", "unpriced_requests"] as const;

/** The built-in reports, in the order in which they are shown. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    id: "spend-overview",
    title: "Spend overview",
    description: "What AI usage cost in all, who and how much is behind it, and what changed the cost.",
    spec: {
      source: "requests",
      dimensions: ["month"],
      measures: words(
        "cost_usd requests total_tokens users sessions active_hours cost_per_user cost_per_active_hour",
        "cache_hit_rate unpriced_requests cost_decomposition",
      ),
      view: "waterfall",
    },
  },
  {
    id: "spend-by-model",
    title: "Spend by model",
    description: "Which models the money goes to, and what a million tokens costs on each.",
    spec: {
      source: "requests",
      dimensions: ["model"],
      measures: [...SPEND, "cost_per_1m_tokens", "latency_p95_ms"],
      view: "bar",
    },
  },
  {
    id: "spend-by-route",
    title: "Spend by route",
    description: "Which kinds of task the money goes to, and how fast they are answered.",
    spec: {
      source: "requests",
      dimensions: ["route"],
      measures: [...SPEND, "cost_per_1k_requests", "latency_avg_ms", "latency_p95_ms"],
      view: "bar",
    },
  },
  {
    id: "spend-by-person",
    title: "Spend by person",
    description:
      "Who the money is spent for: the key's owner, the user of an application, or a service account.",
    spec: {
      source: "requests",
      dimensions: ["subject"],
      measures: ["cost_usd", "cost_share", "requests", "total_tokens", "sessions", "active_hours"],
      view: "table",
    },
  },
  {
    id: "spend-by-client",
    title: "Spend by client",
    description: "Which tools spend the money.",
    spec: {
      source: "requests",
      dimensions: ["client"],
      measures: [...SPEND, "cost_per_user", "cost_per_active_hour"],
      view: "bar",
    },
  },
  {
    id: "spend-by-day",
    title: "Spend by day",
    description: "How cost, requests and the number of people change by day.",
    spec: {
      source: "requests",
      dimensions: ["day"],
      measures: ["cost_usd", "requests", "total_tokens", "users"],
      view: "line",
    },
  },
  {
    id: "unpriced-models",
    title: "Models without a price",
    description:
      "Models of the last 7 days, those with the most unpriced calls first. Their cost is missing from every report. " +
      "Prices in the console says why, takes a price for each, and prices the past.",
    spec: {
      source: "requests",
      dimensions: ["model"],
      measures: ["unpriced_requests", "requests", "cost_usd", "total_tokens", "users"],
      range: "7d",
      view: "table",
    },
  },
  {
    id: "cost-per-merged-pr",
    title: "Cost per merged pull request",
    description:
      "What a merged pull request cost, by repository. A merge without exactly one known session has no cost, so the figure is " +
      "the least it can be until every merge is joined.",
    spec: {
      source: "outcomes",
      dimensions: ["repository"],
      measures: words(
        "cost_per_merged_pr cost_usd merged_prs joined_prs reverted_prs revert_rate reviews users",
      ),
      view: "bar",
    },
  },
  {
    id: "agent-estimate",
    title: "Agents' own estimate",
    description:
      "What agents that call providers directly report about themselves, at list price. It is shown beside spend by client " +
      "and is never added to it.",
    spec: {
      source: "agent_metrics",
      dimensions: ["client"],
      measures: words(
        "estimated_cost_usd operations input_tokens output_tokens cached_tokens users sessions",
        "active_hours latency_avg_ms",
      ),
      view: "table",
    },
  },
  {
    id: "tool-outcomes",
    title: "Tools by outcome and cost",
    description:
      "What became of the calls of agents' tools, and what they cost where a price is set. Seen by the tool gateway and " +
      "by agents' hooks, each call once.",
    spec: {
      source: "tool_calls",
      dimensions: ["server", "tool"],
      measures: words(
        "calls ok failed denied unknown pending cost_usd cost_per_ok_call unpriced_calls latency_p95_ms",
        "users",
      ),
      view: "table",
    },
  },
  {
    id: "denied-tool-calls",
    title: "Denied tool calls",
    description:
      "Which tools agents were kept from, by a policy, a key's scope or a person, and how many people met it.",
    spec: {
      source: "tool_calls",
      dimensions: ["tool", "client"],
      measures: ["denied", "calls", "users", "sessions"],
      view: "bar",
    },
  },
];
