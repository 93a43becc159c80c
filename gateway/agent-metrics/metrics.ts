import type { PointKind } from "#drizzle/schema/agent.ts";
import type { Provider } from "../directory.ts";
import type { AttributeColumn } from "./attributes.ts";

/** How a stored metric's points are read. */
export type MetricFacts = {
  counts: "tokens" | "operations" | "reported";
  /** The kind of every point, or the attribute that gives it. */
  kind: PointKind | { attribute: string; of: Readonly<Record<string, PointKind>> };
  /** Values of that attribute that another metric of the same agent counts, so that they are refused here. */
  elsewhere?: { of: readonly string[]; metric: string };
  /** Attributes in addition to the common ones. */
  attributes?: Readonly<Record<string, AttributeColumn>>;
  /** The agent that sends the metric: the client if `service.name` is not sent, or is another of the agent's names. */
  client?: string;
  clientAliases?: RegExp;
  /** Vendors whose list prices apply if no provider is named. */
  vendors?: readonly Provider["kind"][];
};

const CLAUDE_CODE = {
  attributes: { model: "model" },
  client: "claude-code",
  vendors: ["anthropic", "bedrock"],
} as const satisfies Partial<MetricFacts>;

/**
 * The stored metrics; any other is refused. How emitters count: OpenTelemetry's
 * `input` includes cached tokens without reporting them; Claude Code's excludes them; Codex's includes `cached_input`
 * and `cache_write_input`, and its `output` includes `reasoning_output`. Gemini CLI counts in OpenTelemetry's metric, and
 * adds the rest in its own.
 */
const METRICS: Readonly<Record<string, MetricFacts>> = {
  "gen_ai.client.token.usage": {
    counts: "tokens",
    kind: { attribute: "gen_ai.token.type", of: { input: "input", output: "output" } },
  },
  "gen_ai.client.operation.duration": { counts: "operations", kind: "operations" },
  "claude_code.token.usage": {
    ...CLAUDE_CODE,
    counts: "tokens",
    kind: {
      attribute: "type",
      of: { input: "input", cacheRead: "cache_read", cacheCreation: "cache_write", output: "output" },
    },
  },
  // The agent's own estimate is stored next to ours but enters no report: two estimates must not be added.
  "claude_code.cost.usage": { ...CLAUDE_CODE, counts: "reported", kind: "reported_cost" },
  "claude_code.session.count": { ...CLAUDE_CODE, counts: "reported", kind: "sessions" },
  "claude_code.active_time.total": { ...CLAUDE_CODE, counts: "reported", kind: "active_time" },
  "codex.turn.token_usage": {
    counts: "tokens",
    kind: {
      attribute: "token_type",
      of: {
        input: "input",
        cached_input: "cached_input",
        cache_write_input: "written_input",
        output: "output",
        reasoning_output: "reasoning",
        total: "total",
      },
    },
    attributes: { model: "model" },
    client: "codex",
    // Its surfaces: `codex_exec`, `codex_cli_rs`, `codex-tui`, `Codex Desktop`.
    clientAliases: /^codex[_ -]/i,
    vendors: ["openai"],
  },
  // What its metrics of the conventions leave out. Thoughts are no part of `output`, nor results of tools of `input`.
  "gemini_cli.token.usage": {
    counts: "tokens",
    kind: { attribute: "type", of: { cache: "cached_input", thought: "output", tool: "input" } },
    elsewhere: { of: ["input", "output"], metric: "gen_ai.client.token.usage" },
    attributes: { model: "model" },
    client: "gemini-cli",
    vendors: ["gemini", "vertex"],
  },
};

export const metricFacts = (name: string): MetricFacts | null =>
  (Object.hasOwn(METRICS, name) && METRICS[name]) || null;
