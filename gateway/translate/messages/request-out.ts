import { inexpressible, lose } from "../members.ts";
import type { Effort, OutputFormat, Prompt, PromptTurn, Tool } from "../prompt.ts";
import { claudeFacts } from "./claude-models.ts";
import { blocksOf, systemBlocks } from "./content-out.ts";

/** The prompt as a messages request. @throws GatewayError invalid_request for what the format has no place for. */
export function writeMessagesRequest(prompt: Prompt, model: string): object {
  leaveOutExtras(prompt);
  const system = prompt.turns.filter(({ role }) => role === "system");
  const maxTokens = prompt.maxTokens?.value ?? claudeFacts(model).outputTokensMax;
  return {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system: systemBlocks(system) } : {}),
    messages: conversation(prompt.turns.filter(({ role }) => role !== "system")),
    ...temperatures(prompt),
    ...(prompt.stop.length > 0 ? { stop_sequences: prompt.stop } : {}),
    ...reasoning(prompt, model, maxTokens),
    ...(prompt.tools.length > 0 ? { tools: prompt.tools.map(toolOf) } : {}),
    ...toolChoice(prompt),
    ...(prompt.user === null ? {} : { metadata: { user_id: prompt.user } }),
    ...(prompt.streamed ? { stream: true } : {}),
  };
}

/** A wish about the vendor's capacity means nothing elsewhere; any other member changes the answer. */
function leaveOutExtras({ extras }: Prompt): void {
  for (const [name, { at }] of extras) {
    if (name === "service_tier") at.drop();
    else lose(at);
  }
}

/**
 * The turns with those of one side joined, because results of several calls must come in one message. An answer to
 * continue has another meaning in each format, so it is refused.
 */
function conversation(turns: readonly PromptTurn[]): object[] {
  const joined: { role: string; content: object[] }[] = [];
  for (const turn of turns) {
    const content = blocksOf(turn);
    if (content.length === 0) continue;
    const before = joined.at(-1);
    if (before?.role === turn.role) before.content.push(...content);
    else joined.push({ role: turn.role, content });
  }
  const last = turns.at(-1);
  if (last?.role === "assistant") throw inexpressible(last.at, "the last message must be the user's");
  return joined;
}

/**
 * The chat format's range ends at 2, this format's at 1. 1 is the default of both, and newer models refuse the member, so
 * it is left out.
 */
function temperatures({ temperature, topP }: Prompt): object {
  const clamped = temperature && Math.min(1, Math.max(0, temperature.value));
  return {
    ...(clamped !== null && clamped !== 1 ? { temperature: clamped } : {}),
    ...(topP && topP.value !== 1 ? { top_p: topP.value } : {}),
  };
}

/** Tokens of reasoning for an effort, where a model takes a budget: at least 1,024, and less than the whole answer. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none" | "minimal">, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 49_152,
};
const BUDGET_MIN = 1_024;

function reasoning(prompt: Prompt, model: string, maxTokens: number): object {
  const format = prompt.output ? { format: outputFormat(prompt.output) } : {};
  const { effort } = prompt.reasoning;
  if (!effort || effort.value === "none" || effort.value === "minimal") {
    return prompt.output ? { output_config: format } : {};
  }
  if (!claudeFacts(model).budgeted) {
    return { thinking: { type: "adaptive" }, output_config: { effort: effort.value, ...format } };
  }
  if (maxTokens <= BUDGET_MIN) {
    throw inexpressible(effort.at, `reasoning needs an output limit of more than ${BUDGET_MIN} tokens`);
  }
  const budget_tokens = Math.max(BUDGET_MIN, Math.min(BUDGETS[effort.value], Math.floor(maxTokens / 2)));
  return {
    thinking: { type: "enabled", budget_tokens },
    ...(prompt.output ? { output_config: format } : {}),
  };
}

function outputFormat(output: OutputFormat): object {
  if (output.kind === "json") throw inexpressible(output.at, "give a schema");
  return { type: "json_schema", schema: output.schema };
}

const toolOf = ({ name, description, schema, strict, cache }: Tool) => ({
  name,
  ...(description === null ? {} : { description }),
  input_schema: { type: "object", properties: {}, ...schema },
  ...(strict === true ? { strict } : {}),
  ...(cache ? { cache_control: cache } : {}),
});

function toolChoice({ tools, toolChoice: given, parallelTools }: Prompt): object {
  if (tools.length === 0) parallelTools?.at.drop();
  const alone = parallelTools?.value === false;
  if (tools.length === 0 || (!given && !alone)) return {};
  const choice = given?.value ?? { kind: "auto" };
  const parallel = alone && choice.kind !== "none" ? { disable_parallel_tool_use: true } : {};
  return choice.kind === "tool"
    ? { tool_choice: { type: "tool", name: choice.name, ...parallel } }
    : { tool_choice: { type: choice.kind, ...parallel } };
}
