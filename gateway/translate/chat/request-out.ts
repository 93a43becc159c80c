import type { Json } from "../exact-json.ts";
import { extrasAs } from "../members.ts";
import { inexpressible } from "../place.ts";
import type { OutputFormat, Part, PartOf, Prompt, PromptTurn, Tool, ToolChoice } from "../prompt.ts";
import { effortOf } from "../reasoning.ts";
import { NO_THOUGHT, type ThoughtsFacts } from "../thoughts.ts";
import { fittingId } from "../tool-names.ts";
import { functionMembers, schemaMembers } from "../tool-schema.ts";
import { contentOf, isMarked, markOf } from "./content-out.ts";
import { detailsIn } from "./reasoning-details.ts";

/** Facts about the provider that the writer needs. */
export type ChatDialect = {
  /** The member that bounds the output: OpenAI's reasoning models refuse the older one, others know no other. */
  outputLimitMember: "max_tokens" | "max_completion_tokens";
  thoughts: ThoughtsFacts;
  /** Whether it takes cache marks of the messages format. */
  cacheMarks?: boolean;
  /** Whether `stream_options.include_usage` may be sent. */
  acceptsStreamUsageOption: boolean;
  /** Where ids of calls must be this long. */
  toolIdLength?: number;
};

/** Most characters of the id of a call, and of a person. */
const TOOL_ID_MAX = 40;
const USER_MAX = 64;

/** The prompt as a chat completion request. @throws GatewayError invalid_request for content without a place there. */
export function writeChatRequest(prompt: Prompt, model: string, dialect: ChatDialect): Json {
  const last = prompt.turns.at(-1);
  if (last?.role === "assistant") throw inexpressible(last.at, "the last message must be the user's");
  return {
    model,
    messages: withResultsTogether(prompt.turns).flatMap((turn) => messagesOf(turn, dialect)),
    ...limits(prompt, dialect),
    ...(dialect.cacheMarks && prompt.cache ? { cache_control: prompt.cache } : {}),
    ...toolMembers(prompt),
    ...extrasOf(prompt, dialect),
    ...(prompt.streamed ? { stream: true } : {}),
    ...(prompt.streamed && dialect.acceptsStreamUsageOption
      ? { stream_options: { include_usage: true } }
      : {}),
  };
}

/** Of OpenAI's members, those that other vendors of the format know, too. */
const COMMON = /^(?:service_tier|seed|\w+_penalty)$/;

function extrasOf({ extras }: Prompt, { outputLimitMember }: ChatDialect): object {
  const isOpenAi = outputLimitMember === "max_completion_tokens";
  return extrasAs(extras, (name) => (COMMON.test(name) || (isOpenAi && name !== "top_k") ? name : undefined));
}

function limits(prompt: Prompt, { outputLimitMember }: ChatDialect): object {
  const { maxTokens, temperature, topP, stop, user, output } = prompt;
  if (maxTokens && maxTokens.value < 1) throw inexpressible(maxTokens.at, "it must be 1 or more");
  const effort = effortOf(prompt.reasoning);
  return {
    ...(maxTokens ? { [outputLimitMember]: maxTokens.value } : {}),
    ...(temperature ? { temperature: temperature.value } : {}),
    ...(topP ? { top_p: topP.value } : {}),
    ...(stop.length > 0 ? { stop } : {}),
    ...(effort ? { reasoning_effort: effort } : {}),
    ...(output ? { response_format: responseFormat(output) } : {}),
    ...(user === null ? {} : { user: fittingId(user, USER_MAX) }),
  };
}

function toolMembers({ tools, toolChoice: choice, parallelTools }: Prompt): object {
  if (tools.length === 0) {
    parallelTools?.at.drop();
    return {};
  }
  return {
    tools: tools.map(toolOf),
    ...(choice ? { tool_choice: toolChoice(choice.value) } : {}),
    ...(parallelTools ? { parallel_tool_calls: parallelTools.value } : {}),
  };
}

/** Results of one step of calls as one turn: nothing may come between them. */
function withResultsTogether(turns: readonly PromptTurn[]): PromptTurn[] {
  const together: PromptTurn[] = [];
  for (const turn of turns) {
    const before = together.at(-1);
    const isMore = before?.role === "user" && turn.role === "user" && hasResults(before) && hasResults(turn);
    if (before && isMore)
      together[together.length - 1] = { ...before, parts: [...before.parts, ...turn.parts] };
    else together.push(turn);
  }
  return together;
}

const hasResults = ({ parts }: PromptTurn): boolean => parts.some(({ kind }) => kind === "result");

/** A turn's messages: results of tools first, each its own message, as the format wants them after the calls. */
function messagesOf({ role, parts }: PromptTurn, dialect: ChatDialect): object[] {
  const marks = dialect.cacheMarks === true;
  if (role === "system") return [{ role, content: systemContent(parts, marks) }];
  if (role === "assistant") return [assistantMessage(parts, dialect)];
  const results = parts.filter((part): part is PartOf<"result"> => part.kind === "result");
  const rest = [
    ...results.flatMap(({ parts: inner }) => inner.filter(({ kind }) => kind !== "text")),
    ...parts.filter(({ kind }) => kind !== "result"),
  ];
  return [
    ...results.map((result) => toolMessage(result, dialect)),
    ...(rest.length > 0 || results.length === 0 ? [{ role, content: contentOf(rest, marks) }] : []),
  ];
}

const textsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));

function systemContent(parts: readonly Part[], marks: boolean): string | object[] {
  const other = parts.find(({ kind }) => kind !== "text");
  if (other) throw inexpressible(other.at);
  return isMarked(parts, marks) ? contentOf(parts, marks) : textsOf(parts).join("\n\n");
}

function assistantMessage(parts: readonly Part[], dialect: ChatDialect): object {
  const { thoughts, cacheMarks = false } = dialect;
  const calls: object[] = [];
  for (const part of parts) {
    if (part.kind === "call") calls.push(callOf(part, dialect));
    else if (part.kind === "image" || part.kind === "document" || part.kind === "result") {
      throw inexpressible(part.at);
    }
  }
  const texts = parts.filter(({ kind }) => kind === "text");
  const text = textsOf(texts).join("");
  const content = isMarked(texts, cacheMarks) ? contentOf(texts, cacheMarks) : text;
  return {
    role: "assistant",
    content: text === "" ? (calls.length > 0 ? null : "") : content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...thoughtMembers(parts, { calls: calls.length, thoughts }),
  };
}

function thoughtMembers(
  parts: readonly Part[],
  { calls, thoughts }: { calls: number; thoughts: ThoughtsFacts },
): object {
  const own = parts.filter((part): part is PartOf<"thinking"> => part.kind === "thinking");
  if (thoughts.in === "reasoning_content") {
    const text = own.map((part) => part.text).join("\n\n");
    return text !== "" || calls > 0 ? { reasoning_content: text || NO_THOUGHT } : {};
  }
  if (thoughts.in !== "reasoning_details") return {};
  const details = own.flatMap(({ signature }) => detailsIn(signature ?? ""));
  return details.length > 0 ? { reasoning_details: details } : {};
}

/** Ids that are always the same for the same call, so that it and its result find each other. */
function idOf(id: string, { toolIdLength }: ChatDialect): string {
  if (toolIdLength === undefined) return fittingId(id, TOOL_ID_MAX);
  const fits = id.length === toolIdLength && /^[A-Za-z0-9]+$/.test(id);
  return fits ? id : Bun.hash(id).toString(36).padStart(toolIdLength, "0").slice(-toolIdLength);
}

const callOf = ({ id, name, input }: PartOf<"call">, dialect: ChatDialect) => ({
  id: idOf(id, dialect),
  type: "function",
  function: { name, arguments: input || "{}" },
});

/** Says in words what the format has no member for: that the tool failed, and that its images come after it. */
function toolMessage(result: PartOf<"result">, dialect: ChatDialect): object {
  const marks = dialect.cacheMarks === true;
  const { callId, parts, failed } = result;
  const text = textsOf(parts).join("\n");
  const elsewhere = parts.some(({ kind }) => kind !== "text");
  const said = text === "" && elsewhere ? "The result is in the next message." : text;
  const content = failed && !/^error\b/i.test(said) ? `Error: ${said}` : said;
  const mark = markOf([result, ...parts].find((part) => isMarked([part], marks)) ?? result, marks);
  const marked = Object.keys(mark).length > 0 ? [{ type: "text", text: content, ...mark }] : content;
  return { role: "tool", tool_call_id: idOf(callId, dialect), content: marked };
}

const toolOf = (tool: Tool) => ({ type: "function", function: functionMembers(tool) });

function toolChoice(choice: ToolChoice): string | object {
  if (choice.kind === "tool") return { type: "function", function: { name: choice.name } };
  return choice.kind === "any" ? "required" : choice.kind;
}

const responseFormat = (output: OutputFormat): object =>
  output.kind === "json"
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: schemaMembers(output) };
