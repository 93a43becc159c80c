import type { Json } from "../exact-json.ts";
import { extrasAs } from "../members.ts";
import { inexpressible, lose } from "../place.ts";
import type { OutputFormat, Part, PartOf, Prompt, PromptTurn, Tool, ToolChoice } from "../prompt.ts";
import { effortOrNone } from "../reasoning.ts";
import { soundIn, titledText, urlOfSource } from "../sources.ts";
import { fittingId } from "../tool-names.ts";
import { functionMembers, schemaMembers } from "../tool-schema.ts";
import { mustSearch, responsesSearch } from "../web-search.ts";

/** The least output limit that the vendor takes. */
const OUTPUT_TOKENS_MIN = 16;
/** Models that do not reason, and refuse what only reasoning models take. */
const PLAIN = /^(?:gpt-(?:3|4)|chatgpt-|gpt-5(?:\.\d)?-chat)/;

const THOUGHTS = "reasoning.encrypted_content";
/** Without it, searches do not say what they found. */
const SOURCES = "web_search_call.action.sources";
const sourcesOf = ({ search }: Prompt): string[] => (search ? [SOURCES] : []);

/** The prompt as a responses request that keeps nothing at the vendor. @throws GatewayError invalid_request */
export function writeResponsesRequest(prompt: Prompt, model: string): Json {
  const last = prompt.turns.at(-1);
  if (last?.role === "assistant") throw inexpressible(last.at, "the last message must be the user's");
  if (prompt.stop.length > 0 && prompt.stopAt) lose(prompt.stopAt, "responses have no stop sequences");
  return {
    model,
    input: prompt.turns.flatMap(itemsOf),
    store: false,
    ...limits(prompt, model),
    ...textMember(prompt),
    ...toolMembers(prompt),
    ...vendorMembers(prompt),
    ...(prompt.user === null ? {} : { user: fittingId(prompt.user, ID_MAX) }),
    ...(prompt.streamed ? { stream: true } : {}),
  };
}

function limits(prompt: Prompt, model: string): object {
  const { maxTokens, temperature, topP, reasoning } = prompt;
  if (maxTokens && maxTokens.value < 1) throw inexpressible(maxTokens.at, "it must be 1 or more");
  const limit = maxTokens ? { max_output_tokens: Math.max(OUTPUT_TOKENS_MIN, maxTokens.value) } : {};
  if (PLAIN.test(model)) {
    reasoning.effort?.at.drop();
    return { ...limit, temperature: temperature?.value, top_p: topP?.value };
  }
  if (temperature && temperature.value !== 1) temperature.at.drop();
  if (topP && topP.value !== 1) topP.at.drop();
  const effort = effortOrNone(reasoning);
  const told = { ...(effort ? { effort } : {}), ...(reasoning.shown ? { summary: "auto" } : {}) };
  return {
    ...limit,
    ...(Object.keys(told).length > 0 ? { reasoning: told } : {}),
    include: [THOUGHTS, ...sourcesOf(prompt)],
  };
}

function textMember({ output, extras }: Prompt): object {
  const verbosity = extras.get("verbosity")?.value;
  return verbosity === undefined && !output
    ? {}
    : { text: { verbosity, format: output ? formatOf(output) : undefined } };
}

const formatOf = (output: OutputFormat): object =>
  output.kind === "json"
    ? { type: "json_object" }
    : { type: "json_schema", ...schemaMembers(output), strict: output.strict ?? false };

/** Verbosity is the text's. */
function vendorMembers({ extras }: Prompt): object {
  const { verbosity: _, ...rest } = extrasAs(extras, (name) => (ONLY_CHAT.test(name) ? undefined : name));
  return rest;
}

const ONLY_CHAT = /^(?:seed|top_k|\w+_penalty)$/;

function toolMembers(prompt: Prompt): object {
  const { tools, search, toolChoice: choice, parallelTools } = prompt;
  const all = [...tools.map(toolOf), ...(search ? [responsesSearch(search)] : [])];
  if (tools.length === 0) parallelTools?.at.drop();
  if (all.length === 0) return {};
  return {
    tools: all,
    ...(choice ? { tool_choice: mustSearch(prompt) ? ONLY_SEARCH : toolChoice(choice.value) } : {}),
    ...(parallelTools && tools.length > 0 ? { parallel_tool_calls: parallelTools.value } : {}),
  };
}

/** OpenAI's search is no type of `tool_choice` by itself. */
const ONLY_SEARCH = { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] };

/** Tools are strict here unless they say that they are not. */
const toolOf = (tool: Tool) => ({
  type: "function",
  ...functionMembers(tool),
  strict: tool.strict?.value ?? false,
});

const toolChoice = (choice: ToolChoice): string | object =>
  choice.kind === "tool"
    ? { type: "function", name: choice.name }
    : choice.kind === "any"
      ? "required"
      : choice.kind;

/** A turn's items: results of tools first, each its own item; what a model said in its order. */
function itemsOf({ role, parts }: PromptTurn): object[] {
  if (role === "system") return [{ role: "developer", content: parts.map(inputPart) }];
  if (role === "assistant") return parts.flatMap(saidItem);
  const results = parts.filter((part): part is PartOf<"result"> => part.kind === "result");
  const rest = parts.filter(({ kind }) => kind !== "result");
  return [
    ...results.map(resultItem),
    ...(rest.length > 0 ? [{ role: "user", content: rest.map(inputPart) }] : []),
  ];
}

/** Thoughts without what their vendor packed say nothing to it. */
function saidItem(part: Part): object[] {
  switch (part.kind) {
    case "text":
      return part.text === ""
        ? []
        : [{ role: "assistant", content: [{ type: "output_text", text: part.text }] }];
    case "thinking": {
      if (part.signature === null) return [];
      const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }];
      return [{ type: "reasoning", summary, encrypted_content: part.signature }];
    }
    case "call": {
      const call = { call_id: fittingId(part.id, ID_MAX), name: part.name, arguments: part.input || "{}" };
      return [{ type: "function_call", ...call }];
    }
    case "redacted":
    case "extra":
      return [];
    default:
      throw inexpressible(part.at);
  }
}

/** Most characters of the id of a call or a person. */
const ID_MAX = 64;

function resultItem({ callId, parts, failed }: PartOf<"result">): object {
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  const said = failed && !/^error\b/i.test(text) ? `Error: ${text}` : text;
  const media = parts.filter(({ kind }) => kind !== "text").map(inputPart);
  const texts = said === "" ? [] : [{ type: "input_text", text: said }];
  const output = media.length > 0 ? [...texts, ...media] : said;
  return { type: "function_call_output", call_id: fittingId(callId, ID_MAX), output };
}

function inputPart(part: Part): object {
  switch (part.kind) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", detail: "auto", image_url: urlOfSource(part.source, part.at) };
    case "document":
      return documentPart(part);
    default:
      throw inexpressible(part.at);
  }
}

function documentPart({ source, title, at }: PartOf<"document">): object {
  if (source.kind === "text") return { type: "input_text", text: titledText(title, source.text) };
  if (source.kind === "url") return { type: "input_file", file_url: source.url };
  if (soundIn(source)) throw inexpressible(at, "responses take no sound");
  return { type: "input_file", filename: title ?? "document.pdf", file_data: urlOfSource(source, at) };
}
