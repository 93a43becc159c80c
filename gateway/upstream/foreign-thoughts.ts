import type { Call } from "../call.ts";
import { scanJson } from "../http/scan.ts";
import { thoughtsOf } from "../providers/endpoint.ts";
import { isJson, type Json, jsonBytes, objectInBytes } from "../translate/exact-json.ts";
import { UNKNOWN_SIGNATURE } from "../translate/gemini/signature.ts";
import { isSealed, SEAL } from "../translate/sealed.ts";
import { NO_THOUGHT } from "../translate/thoughts.ts";
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

/** What Google, Moonshot and DeepSeek say of a call without the thoughts that they want back. */
export const LOST_THOUGHTS = /thought_signature|reasoning_content/;

/**
 * The call with what its vendor takes for thoughts that no one knows, at each turn of calls whose own the client lost, as most
 * clients of chat completions do; null if it lost none. Gemini 3, Kimi and DeepSeek refuse such a call with 400, so only refused
 * calls are looked at.
 */
export function withUnknownThoughts(
  { answer, target, translation }: AnsweredAttempt,
  call: Call,
): Call | null {
  if (answer.status !== 400 || call.surface !== "chat.completions" || translation) return null;
  const { vendor, in: place } = thoughtsOf(target.provider.kind, target.model ?? "");
  const inText = place === "reasoning_content";
  const request = objectInBytes(call.body.bytes);
  const messages = request?.["messages"];
  if (!(inText || vendor === "google") || !Array.isArray(messages)) return null;
  const known = messages.map(inText ? withText : withSignature);
  const isSame = known.every((message, index) => message === messages[index]);
  return isSame ? null : { ...call, body: scanJson(jsonBytes({ ...request, messages: known })) };
}

const callsIn = (message: Json): unknown[] =>
  Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];

const withText = (message: unknown): unknown =>
  isJson(message) && callsIn(message).length > 0 && !message["reasoning_content"]
    ? { ...message, reasoning_content: NO_THOUGHT }
    : message;

function withSignature(message: unknown): unknown {
  if (!isJson(message)) return message;
  const [first, ...others] = callsIn(message);
  if (!isJson(first) || first["extra_content"] !== undefined) return message;
  const extra_content = { google: { thought_signature: UNKNOWN_SIGNATURE } };
  return { ...message, tool_calls: [{ ...first, extra_content }, ...others] };
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
