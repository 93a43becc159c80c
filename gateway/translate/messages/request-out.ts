import { type Json, wordOf } from "../exact-json.ts";
import { extrasAs } from "../members.ts";
import { inexpressible } from "../place.ts";
import type { Effort, Prompt, PromptTurn, Tool } from "../prompt.ts";
import { messagesSearch } from "../web-search.ts";
import { claudeFacts } from "./claude-models.ts";
import { blocksOf, systemBlocks } from "./content-out.ts";
import { grammarOf } from "./grammar.ts";

/** The prompt as a messages request. @throws GatewayError invalid_request for content without a place there. */
export function writeMessagesRequest(prompt: Prompt, model: string): Json {
  const system = prompt.turns.filter(({ role }) => role === "system");
  const maxTokens = prompt.maxTokens?.value ?? claudeFacts(model).outputTokensMax;
  const reasoning = reasoningOf(prompt, model, maxTokens);
  return {
    model,
    max_tokens: maxTokens,
    ...systemMember(system),
    messages: conversation(
      prompt.turns.filter(({ role }) => role !== "system"),
      model,
    ),
    ...temperatures(prompt, reasoning),
    // A model that thinks takes none.
    ...extrasAs(prompt.extras, (name) => (name === "top_k" && !reasoning.thinking ? name : undefined)),
    ...stopSequences(prompt),
    ...(reasoning.thinking ? { thinking: reasoning.thinking } : {}),
    ...outputConfig(prompt, reasoning),
    ...toolsMember(prompt, model),
    ...toolChoice(prompt),
    ...(prompt.user === null ? {} : { metadata: { user_id: prompt.user } }),
    ...(prompt.streamed ? { stream: true } : {}),
  };
}

function toolsMember({ tools, search }: Prompt, model: string): object {
  const all = [...tools.map(toolFor(model)), ...(search ? [messagesSearch(search)] : [])];
  return all.length > 0 ? { tools: all } : {};
}

function systemMember(turns: readonly PromptTurn[]): object {
  const system = systemBlocks(turns);
  return system.length > 0 ? { system } : {};
}

type Message = { role: string; content: object[] };

/** The turns, with those of one side joined: results share a message. Some models refuse an answer to continue. */
function conversation(turns: readonly PromptTurn[], model: string): object[] {
  const joined: Message[] = [];
  for (const turn of turns) {
    const content = blocksOf(turn);
    if (content.length === 0) continue;
    const before = joined.at(-1);
    if (before?.role === turn.role) before.content.push(...content);
    else joined.push({ role: turn.role, content });
  }
  const last = turns.at(-1);
  if (last?.role === "assistant") {
    if (claudeFacts(model).prefill === false)
      throw inexpressible(last.at, "the last message must be the user's");
    joined.push(...begunAnswer(joined.pop()));
  }
  return joined;
}

/** The vendor refuses white space at the end of an answer to continue. */
function begunAnswer(message: Message | undefined): Message[] {
  const last = message?.content.at(-1);
  if (!message || !last || !("text" in last)) return message ? [message] : [];
  const text = wordOf(last.text).trimEnd();
  return [{ ...message, content: [...message.content.slice(0, -1), { ...last, text }] }];
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
  const top = topP && topP.value !== 1 ? { top_p: topP.value } : {};
  if (clamped === null || clamped === 1) return top;
  // Since Claude 4.1 only one of them.
  if ("top_p" in top) topP?.at.drop();
  return { temperature: clamped };
}

/** The vendor refuses sequences of white space alone. */
function stopSequences({ stop, stopAt }: Prompt): object {
  const stop_sequences = stop.filter((one) => one.trim() !== "");
  if (stop_sequences.length < stop.length) stopAt?.drop();
  return stop_sequences.length > 0 ? { stop_sequences } : {};
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

function toolChoice({ tools, search, toolChoice: given, parallelTools }: Prompt): object {
  if (tools.length === 0) parallelTools?.at.drop();
  const alone = tools.length > 0 && parallelTools?.value === false;
  if ((tools.length === 0 && !search) || (!given && !alone)) return {};
  const choice = given?.value ?? { kind: "auto" };
  const parallel = alone && choice.kind !== "none" ? { disable_parallel_tool_use: true } : {};
  return choice.kind === "tool"
    ? { tool_choice: { type: "tool", name: choice.name, ...parallel } }
    : { tool_choice: { type: choice.kind, ...parallel } };
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

type Reasoning = { thinking: object | null; effort: Effort | null };

const NONE: Reasoning = { thinking: null, effort: null };

/** How a model is asked to reason. Newer models take an effort also where they may not think aloud. */
function reasoningOf(prompt: Prompt, model: string, maxTokens: number): Reasoning {
  const { effort } = prompt.reasoning;
  if (!effort || effort.value === "none" || effort.value === "minimal") return NONE;
  const thinks =
    !isForced(prompt) && !hasUnsignedCalls(prompt.turns) && prompt.turns.at(-1)?.role !== "assistant";
  if (!claudeFacts(model).budgeted) {
    return { thinking: thinks ? { type: "adaptive" } : null, effort: effort.value };
  }
  // A budget needs an output limit above the least one.
  if (!thinks || maxTokens <= BUDGET_MIN) {
    effort.at.drop();
    return NONE;
  }
  const budget_tokens = Math.max(BUDGET_MIN, Math.min(BUDGETS[effort.value], Math.floor(maxTokens / 2)));
  return { thinking: { type: "enabled", budget_tokens }, effort: null };
}

/** A model that must call a tool cannot think first. */
const isForced = ({ toolChoice }: Prompt): boolean =>
  toolChoice?.value.kind === "any" || toolChoice?.value.kind === "tool";

/** Whether the turn under way has calls, but none of the signed thoughts that the vendor expects before them. */
function hasUnsignedCalls(turns: readonly PromptTurn[]): boolean {
  const asked = turns.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some(({ kind }) => kind !== "result"),
  );
  const said = turns.slice(asked + 1).flatMap(({ role, parts }) => (role === "assistant" ? parts : []));
  const isSigned = said.some(
    (part) => part.kind === "redacted" || (part.kind === "thinking" && Boolean(part.signature)),
  );
  return !isSigned && said.some(({ kind }) => kind === "call");
}
