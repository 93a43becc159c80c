import { inexpressible, lose } from "../members.ts";
import type { Prompt, PromptTurn, Tool } from "../prompt.ts";
import { claudeFacts } from "./claude-models.ts";
import { blocksOf, systemBlocks } from "./content-out.ts";
import { grammarOf } from "./grammar.ts";
import { type Reasoning, reasoningOf } from "./reasoning.ts";

/** The prompt as a messages request. @throws GatewayError invalid_request for what the format has no place for. */
export function writeMessagesRequest(prompt: Prompt, model: string): object {
  leaveOutExtras(prompt);
  const system = prompt.turns.filter(({ role }) => role === "system");
  const maxTokens = prompt.maxTokens?.value ?? claudeFacts(model).outputTokensMax;
  const reasoning = reasoningOf(prompt, model, maxTokens);
  return {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system: systemBlocks(system) } : {}),
    messages: conversation(prompt.turns.filter(({ role }) => role !== "system")),
    ...temperatures(prompt, reasoning),
    ...(prompt.stop.length > 0 ? { stop_sequences: prompt.stop } : {}),
    ...(reasoning.thinking ? { thinking: reasoning.thinking } : {}),
    ...outputConfig(prompt, reasoning),
    ...(prompt.tools.length > 0 ? { tools: prompt.tools.map(toolFor(model)) } : {}),
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
 * The chat format's range ends at 2, this format's at 1. 1 is the default of both, and newer models refuse the members,
 * so it is left out; so is any other where the model thinks, which has a temperature of its own.
 */
function temperatures({ temperature, topP }: Prompt, { thinking }: Reasoning): object {
  if (thinking) {
    if (temperature && temperature.value !== 1) temperature.at.drop();
    if (topP && topP.value !== 1) topP.at.drop();
    return {};
  }
  const clamped = temperature && Math.min(1, Math.max(0, temperature.value));
  return {
    ...(clamped !== null && clamped !== 1 ? { temperature: clamped } : {}),
    ...(topP && topP.value !== 1 ? { top_p: topP.value } : {}),
  };
}

function outputConfig({ output }: Prompt, { effort }: Reasoning): object {
  const format = output?.kind === "schema" ? { type: "json_schema", schema: output.schema } : null;
  if (!format && !effort) return {};
  return { output_config: { ...(effort ? { effort } : {}), ...(format ? { format } : {}) } };
}

/** Arguments are kept to a schema by the models that have grammars, where a grammar can. */
function toolFor(model: string): (tool: Tool) => object {
  const { schemas } = claudeFacts(model);
  return ({ name, description, schema, strict, cache }) => {
    const grammar = strict?.value === true && schemas ? grammarOf(schema ?? {}) : null;
    if (strict?.value === true && !grammar) strict.at.drop();
    return {
      name,
      ...(description === null ? {} : { description }),
      input_schema: grammar ?? { type: "object", properties: {}, ...schema },
      ...(grammar ? { strict: true } : {}),
      ...(cache ? { cache_control: cache } : {}),
    };
  };
}

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
