import type { PointKind } from "#drizzle/schema/agent.ts";
import type { Provider } from "../directory.ts";
import type { AttributeColumn } from "./attributes.ts";

/** What a stored metric's points tell, and where they keep it. */
export type MetricFacts = {
  counts: "tokens" | "operations" | "told";
  /** The kind of every point, or the attribute whose value says it. */
  kind: PointKind | { attribute: string; of: Readonly<Record<string, PointKind>> };
  /** Attributes of its own, beside those of every metric. */
  attributes?: Readonly<Record<string, AttributeColumn>>;
  /** The tool, where `service.name` is not sent. */
  client?: string;
  /** Whose list prices hold, where no provider is named. */
  vendors?: readonly Provider["kind"][];
};

const CLAUDE_CODE = {
  attributes: { model: "model" },
  client: "claude-code",
  vendors: ["anthropic", "bedrock"],
} as const satisfies Partial<MetricFacts>;

/**
 * The metrics that are stored (spec, Metrics receiver 4 and 9); any other name is refused. How each emitter counts:
 * OpenTelemetry's `input` includes cached tokens and does not tell them apart; Claude Code's `input` is without them;
 * Codex' `input` includes `cached_input` and `cache_write_input`, its `output` includes `reasoning_output`.
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
  // The agent's own estimate is kept beside ours and enters no report: two estimates must not add up.
  "claude_code.cost.usage": { ...CLAUDE_CODE, counts: "told", kind: "told_cost" },
  "claude_code.session.count": { ...CLAUDE_CODE, counts: "told", kind: "sessions" },
  "claude_code.active_time.total": { ...CLAUDE_CODE, counts: "told", kind: "active_time" },
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
    vendors: ["openai"],
  },
};

export const metricFacts = (name: string): MetricFacts | null =>
  (Object.hasOwn(METRICS, name) && METRICS[name]) || null;
