import type { Reading, StreamReader } from "../reading.ts";
import type { ProviderFacts } from "./catalog.ts";
import { chatUsage, usageIn } from "./chat-usage.ts";
import { openaiError } from "./openai-error.ts";
import { listOf, nameOf, objectOf, type Told, toldIn } from "./provider-json.ts";
import { readingOf } from "./reading-of.ts";
import { holds, indexIn, needle, type Search, searchFor, seekIn } from "./telling-text.ts";
import type { Wire } from "./wires.ts";

/** OpenAI's chat completions, and what others made of them. */
export const CHAT_WIRE: Wire = {
  ...openaiError,
  readAnswer(bytes, facts) {
    const told = toldIn(bytes) ?? {};
    return chatReading({ told, usage: usageIn(told), final: true }, facts);
  },
  openStream: chatStream,
  mayBeUsageOnly,
};

function chatStream(facts: ProviderFacts): StreamReader {
  let contentSeen = false;
  let terminalSeen = false;
  let errorSeen = false;
  let usage: Told | null = null;
  let final = false;
  let model: string | null = null;
  let tier: string | null = null;

  const take = (chunk: Told) => {
    model ??= nameOf(chunk["model"]);
    tier = nameOf(chunk["service_tier"]) ?? tier;
    if (hasContent(chunk)) contentSeen = true;
    if (objectOf(chunk["error"])) errorSeen = true;
    const told = usageIn(chunk);
    if (!told) return;
    // Some tell a running figure on every chunk: the last one counts, and it is final once the answer is.
    usage = told;
    final ||= listOf(chunk["choices"]).every(isFinished);
  };

  return {
    seek(chunk) {
      const next = seekIn(chunk, SEARCHES);
      return (from) => (contentSeen ? next(from) : from);
    },
    event(data) {
      if (isDone(data)) {
        terminalSeen = true;
        return false;
      }
      if (contentSeen && !tellsMore(data)) return false;
      const chunk = toldIn(data);
      if (!chunk) return false;
      take(chunk);
      return isUsageOnly(chunk) && mayBeUsageOnly(data);
    },
    get contentSeen() {
      return contentSeen;
    },
    get terminalSeen() {
      return terminalSeen;
    },
    get errorSeen() {
      return errorSeen;
    },
    reading: (complete) =>
      chatReading({ told: { model, service_tier: tier }, usage, final: complete || final }, facts),
  };
}

const chatReading = (
  { told, usage, final }: { told: Told; usage: Told | null; final: boolean },
  facts: ProviderFacts,
): Reading =>
  readingOf({
    usage: usage && chatUsage(usage, facts),
    model: nameOf(told["model"]),
    tier: nameOf(told["service_tier"]),
    final,
  });

const decoder = new TextDecoder();
const isDone = (data: Uint8Array): boolean =>
  data.byteLength <= 16 && decoder.decode(data).trim() === "[DONE]";

const DONE = needle("[DONE]");
const ERROR = needle('"error"');
const USAGE = needle('"usage"');
const USAGE_NULL = needle('"usage":null');

/** A search instead of a parse: as vendors spell these names; inside a JSON string the quotes would be escaped. */
const tellsMore = (data: Uint8Array): boolean => tellsUsage(data) || holds(data, ERROR);

const NULL_MEMBER = /^"usage"\s*:\s*null\b/;

/** Chunks of a stream that was asked for usage all carry `"usage":null` but the last. */
function tellsUsage(data: Uint8Array): boolean {
  for (let at = usageAt(data, 0); at !== -1; at = usageAt(data, at + 1)) {
    if (!NULL_MEMBER.test(decoder.decode(data.subarray(at, at + 24)))) return true;
  }
  return false;
}

/** Passes over the `null` in its usual form. */
const usageAt: Search = (bytes, from) => {
  let at = indexIn(bytes, USAGE, from);
  while (at !== -1 && isNullAt(bytes, at)) at = indexIn(bytes, USAGE, at + USAGE_NULL.byteLength);
  return at;
};

function isNullAt(bytes: Uint8Array, at: number): boolean {
  for (let index = USAGE.byteLength; index < USAGE_NULL.byteLength; index += 1) {
    if (bytes[at + index] !== USAGE_NULL[index]) return false;
  }
  return true;
}

const SEARCHES = [usageAt, searchFor(ERROR), searchFor(DONE)];

/** Members of a delta that are content, in OpenAI's words and others'. A role alone is none. */
const CONTENT_MEMBERS = [
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "tool_calls",
  "function_call",
  "audio",
  "images",
] as const;

const hasContent = (chunk: Told): boolean =>
  listOf(chunk["choices"]).some((choice) => {
    const delta = objectOf(objectOf(choice)?.["delta"]);
    return delta !== null && CONTENT_MEMBERS.some((member) => isFilled(delta[member]));
  });

const isFilled = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : objectOf(value) !== null;

const isFinished = (choice: unknown): boolean => typeof objectOf(choice)?.["finish_reason"] === "string";

/** Members that make a chunk worth passing on although it has no choices: Azure's filter results, moderation, sources. */
const INFORMATIVE = [
  "prompt_filter_results",
  "prompt_annotations",
  "moderation",
  "citations",
  "search_results",
  "error",
] as const;

const isUsageOnly = (chunk: Told): boolean =>
  Array.isArray(chunk["choices"]) &&
  chunk["choices"].length === 0 &&
  objectOf(chunk["usage"]) !== null &&
  INFORMATIVE.every((member) => chunk[member] === undefined || chunk[member] === null);

/** A chunk with a delta is not a usage chunk, and a usage chunk is a JSON object. */
function mayBeUsageOnly(data: Uint8Array): boolean {
  const first = data.find((byte) => byte !== 0x20 && byte !== 0x09);
  if (first !== undefined && first !== 0x7b) return false;
  return !holds(data, DELTA) && !holds(data, CHOICE);
}

const DELTA = needle('"delta":');
const CHOICE = needle('"choices":[{');
