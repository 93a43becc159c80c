import type { Call } from "../call.ts";
import { protoMember } from "../google-format.ts";
import { scanJson } from "../http/scan.ts";
import { thoughtsOf } from "../providers/endpoint.ts";
import { isJson, type Json, jsonBytes, objectInBytes } from "../translate/exact-json.ts";
import { isSealed, NO_THOUGHT, openSignature, SEAL, UNKNOWN_SIGNATURE } from "../translate/thoughts.ts";
import type { AnsweredAttempt, Attempt } from "./attempt.ts";

/**
 * The call without the thoughts that another vendor's model had before the conversation changed to this one; null if it has none.
 * Anthropic refuses such a call with 400, so only refused calls are looked at.
 */
export function withoutForeignThoughts(attempt: Attempt, call: Call): Call | null {
  if (attempt.kind !== "answer" || attempt.answer.status !== 400) return null;
  if (call.surface !== "messages" || attempt.translation) return null;
  const { bytes } = call.body;
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(SEAL)) return null;
  const request = objectInBytes(bytes);
  const messages = request?.["messages"];
  if (!Array.isArray(messages)) return null;
  const kept = messages.map(withoutSealed).filter((message) => message !== null);
  const rest = answersTools(messages.at(-1)) ? withoutThinking(request ?? {}) : request;
  return { ...call, body: scanJson(jsonBytes({ ...rest, messages: kept })) };
}

/** The call to resend after a refusal that allows it. */
type Mended = { said: RegExp; call: Call };

/** What Google, Moonshot and DeepSeek say of a call without the thoughts that they want back, or with another vendor's. */
const LOST = /thought.?signature|reasoning_content/i;
/** Vendors name the member that they do not know, or the signature that is not theirs. */
const FOREIGN = /reasoning|signature|thinking/i;

/**
 * The calls to try, best first, where the one refused may have lost its vendor's thoughts, as most clients of chat completions lose
 * them, or has those of the models that had the conversation before. Only refused calls are looked at.
 */
export function mendedThoughts({ answer, target, translation }: AnsweredAttempt, call: Call): Mended[] {
  const member = Object.hasOwn(HISTORIES, call.surface) ? HISTORIES[call.surface] : undefined;
  if ((answer.status !== 400 && answer.status !== 422) || member === undefined) return [];
  const request = objectInBytes(call.body.bytes);
  const list = listIn(request ?? {}, member);
  const { vendor, in: place } = thoughtsOf(target.provider.kind, target.model ?? "");
  const each = (said: RegExp, change: (one: unknown) => unknown): Mended[] => {
    const changed = list.map(change);
    if (changed.every((one, index) => one === list[index])) return [];
    return [{ said, call: { ...call, body: scanJson(jsonBytes({ ...request, [member]: changed })) } }];
  };
  const own =
    member === "contents"
      ? withOwnSignatures
      : place === "reasoning_content"
        ? withText
        : vendor === "google"
          ? withSignature
          : null;
  return [
    ...(own && !translation ? each(LOST, own) : []),
    ...(member === "messages" ? each(FOREIGN, withoutThoughts(place)) : []),
  ];
}

/** The member with the conversation, by surface. */
const HISTORIES: Readonly<Record<string, string>> = {
  "chat.completions": "messages",
  generate_content: "contents",
};

const listIn = (holder: Json, name: string): unknown[] => {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
};

const withText = (message: unknown): unknown =>
  isJson(message) && listIn(message, "tool_calls").length > 0 && !message["reasoning_content"]
    ? { ...message, reasoning_content: NO_THOUGHT }
    : message;

function withSignature(message: unknown): unknown {
  if (!isJson(message)) return message;
  const [first, ...others] = listIn(message, "tool_calls");
  if (!isJson(first) || first["extra_content"] !== undefined) return message;
  const extra_content = { google: { thought_signature: UNKNOWN_SIGNATURE } };
  return { ...message, tool_calls: [{ ...first, extra_content }, ...others] };
}

/** Without the members that only other vendors read. OpenRouter's own pieces have an id, and those of this gateway have none. */
const withoutThoughts =
  (place: string | undefined) =>
  (message: unknown): unknown => {
    if (!isJson(message)) return message;
    const { reasoning_content: text, reasoning_details: details, reasoning, ...rest } = message;
    const own = listIn(message, "reasoning_details").filter((one) => isJson(one) && "id" in one);
    const isSame =
      place === "reasoning_details" ? own.length === listIn(message, "reasoning_details").length : !details;
    if (isSame && (place !== undefined || !(text || reasoning))) return message;
    return {
      ...rest,
      ...(place === "reasoning_content" && text ? { reasoning_content: text } : {}),
      ...(place === "reasoning_details"
        ? { reasoning, ...(own.length > 0 && { reasoning_details: own }) }
        : {}),
    };
  };

/** A content of Gemini's, whose first call has the signature of a thought: its own, or in place of one that no one knows. */
function withOwnSignatures(content: unknown): unknown {
  if (!isJson(content)) return content;
  const parts = listIn(content, "parts").map((part) => {
    const signature = protoMember(part, "thoughtSignature");
    if (!isJson(part) || typeof signature !== "string" || openSignature(signature).length === 0) return part;
    const { thoughtSignature: _, thought_signature: __, ...rest } = part;
    return rest;
  });
  const first = parts.findIndex((part) => protoMember(part, "functionCall") !== undefined);
  const call = parts[first];
  if (isJson(call) && protoMember(call, "thoughtSignature") === undefined) {
    parts[first] = { ...call, thoughtSignature: UNKNOWN_SIGNATURE };
  }
  return parts.every((part, index) => part === listIn(content, "parts")[index])
    ? content
    : { ...content, parts };
}

const answersTools = (message: unknown): boolean =>
  isJson(message) &&
  Array.isArray(message["content"]) &&
  message["content"].some((block) => isJson(block) && block["type"] === "tool_result");

/** Between a call and its answer the vendor lets a model think only if its own thoughts came before the call. */
function withoutThinking({ thinking: _, context_management: management, ...rest }: Json): Json {
  const edits = isJson(management) && Array.isArray(management["edits"]) ? management["edits"] : [];
  const others = edits.filter(
    (edit) => !(isJson(edit) && String(edit["type"]).startsWith("clear_thinking_")),
  );
  return others.length > 0 ? { ...rest, context_management: { edits: others } } : rest;
}

/** A thought, or a search of the web, of another vendor's. */
const isForeign = (block: unknown): boolean =>
  isJson(block) &&
  (isSealed(block["signature"]) || isSealed(block["data"]) || isSearch(block["id"] ?? block["tool_use_id"]));

/** Anthropic's own begin otherwise. */
const isSearch = (id: unknown): boolean => /^(?:ws|search)_/.test(String(id));

/** What it cites of such searches says nothing without them. */
const withoutCitations = (block: unknown): unknown =>
  isJson(block) && JSON.stringify(block["citations"] ?? "").includes(SEAL)
    ? { ...block, citations: null }
    : block;

/** Null if nothing is left of it. */
function withoutSealed(message: unknown): unknown {
  if (!isJson(message) || !Array.isArray(message["content"])) return message;
  const content = message["content"].filter((block) => !isForeign(block)).map(withoutCitations);
  return content.length === 0 ? null : ({ ...message, content } satisfies Json);
}
