import { readProviderError } from "../error-shapes.ts";
import {
  isJson,
  type Json,
  objectMember,
  objectsIn,
  type StepReader,
  textIn,
  wordOf,
} from "../exact-json.ts";
import type { OpenBlock, ProviderError, ReplyStep, StopReason, StopStep } from "../reply.ts";
import { sourcesIn } from "../web-search.ts";

/** The steps of a complete answer; empty for anything else. */
export function geminiSteps(answer: Json): ReplyStep[] {
  const reader = geminiStream();
  return [...reader.event(answer), ...reader.rest()];
}

type Seen = {
  id: string | null;
  open: "text" | "thinking" | null;
  /** The open block's. */
  text: string;
  calls: number;
  stop: StopStep | null;
  /** What its search found, and what its texts say of that; the last one counts. */
  grounding: Json | null;
};

/** Reads a stream of generateContent, and only the first candidate: other formats cannot request more. */
export function geminiStream(): StepReader {
  const seen: Seen = { id: null, open: null, text: "", calls: 0, stop: null, grounding: null };
  return {
    event(data) {
      if (data === "[DONE]") return [];
      if (isJson(data["error"])) return [{ kind: "error", error: readProviderError(data) }];
      const candidate = objectsIn(data, "candidates")[0] ?? null;
      const blocked = textIn(objectMember(data, "promptFeedback"), "blockReason");
      if (!candidate && blocked === null) return [];
      const steps = start(seen, data);
      const parts = objectsIn(objectMember(candidate, "content"), "parts");
      steps.push(...parts.flatMap((part) => partSteps(seen, part)));
      seen.grounding = objectMember(candidate, "groundingMetadata") ?? seen.grounding;
      steps.push(...endSteps(seen, candidate, blocked));
      return steps;
    },
    rest() {
      const { stop } = seen;
      if (!stop) return [];
      seen.stop = null;
      return [...citeSteps(seen), ...close(seen), ...searchSteps(seen), stop, { kind: "end" }];
    },
  };
}

function start(seen: Seen, chunk: Json): ReplyStep[] {
  if (seen.id !== null) return [];
  seen.id = textIn(chunk, "responseId") ?? "";
  return [{ kind: "start", id: seen.id, model: textIn(chunk, "modelVersion") ?? "" }];
}

function close(seen: Seen): ReplyStep[] {
  if (seen.open === null) return [];
  seen.open = null;
  return [{ kind: "close" }];
}

const alone = (block: OpenBlock, text = ""): ReplyStep[] => [
  { kind: "open", block },
  ...(text === "" ? [] : [{ kind: "more", text } as const]),
  { kind: "close" },
];

/** A signature belongs to its part, so a text with one is a block of its own. Parts of tools that Google runs are skipped. */
function partSteps(seen: Seen, part: Json): ReplyStep[] {
  const signature = textIn(part, "thoughtSignature");
  const extra = signature === null ? null : JSON.stringify({ google: { thought_signature: signature } });
  const signed = extra === null ? [] : [...close(seen), ...alone({ kind: "extra", data: extra })];
  const call = objectMember(part, "functionCall");
  if (call) return [...close(seen), ...signed, ...callSteps(seen, call)];
  const inline = objectMember(part, "inlineData");
  const [mediaType, data] = [textIn(inline, "mimeType"), textIn(inline, "data")];
  if (mediaType?.startsWith("image/") && data && part["thought"] !== true) {
    return [...close(seen), ...signed, ...alone({ kind: "image", mediaType, data })];
  }
  const text = textIn(part, "text") ?? "";
  if (text === "") return signed;
  const kind = part["thought"] === true ? "thinking" : "text";
  const opened: ReplyStep[] =
    seen.open === kind && signed.length === 0 ? [] : [...close(seen), { kind: "open", block: { kind } }];
  seen.text = seen.open === kind ? seen.text + text : text;
  seen.open = kind;
  return [...signed, ...opened, { kind: "more", text }];
}

/** Google counts bytes of the text. */
function citeSteps({ open, text, grounding }: Seen): ReplyStep[] {
  if (open !== "text") return [];
  const bytes = Buffer.from(text);
  const sources = objectsIn(grounding, "groundingChunks").map(({ web }) => (isJson(web) ? web : null));
  return objectsIn(grounding, "groundingSupports").flatMap((support) => {
    const { startIndex = 0, endIndex } = objectMember(support, "segment") ?? {};
    const place = {
      start: bytes.subarray(0, Number(startIndex)).toString().length,
      end: bytes.subarray(0, Number(endIndex)).toString().length,
    };
    const indices = support["groundingChunkIndices"];
    return (Array.isArray(indices) ? indices : []).flatMap((index): ReplyStep[] => {
      const [url, title] = [textIn(sources[index] ?? null, "uri"), textIn(sources[index] ?? null, "title")];
      return url === null
        ? []
        : [{ kind: "cite", citation: { url, title: title ?? "", quote: null, place } }];
    });
  });
}

function searchSteps({ grounding, id }: Seen): ReplyStep[] {
  const queries = grounding?.["webSearchQueries"];
  const web = objectsIn(grounding, "groundingChunks").map((chunk) => chunk["web"]);
  return (Array.isArray(queries) ? queries : []).flatMap((query, index) => {
    const sources = index === 0 ? sourcesIn({ web }, "web") : [];
    return alone({ kind: "search", id: `search_${id}_${index}`, query: wordOf(query), sources });
  });
}

function callSteps(seen: Seen, call: Json): ReplyStep[] {
  seen.calls += 1;
  // Older models give no id; the result must still find its call.
  const id = textIn(call, "id") || `call_${seen.id}_${seen.calls}`;
  const args = JSON.stringify(objectMember(call, "args") ?? {});
  return alone({ kind: "call", id, name: textIn(call, "name") ?? "" }, args);
}

const REASONS: Readonly<Record<string, StopReason>> = {
  MAX_TOKENS: "max_tokens",
  SAFETY: "refusal",
  RECITATION: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
  LANGUAGE: "refusal",
};

/** An answer that ended for no reason of the prompt's, such as a call that the model could not write, before it said anything. */
const saysNothing = ({ calls, text }: Seen, reason: string): boolean =>
  calls === 0 && text === "" && reason !== "STOP" && !Object.hasOwn(REASONS, reason);

const unfinished = (reason: string, message: string | null): ProviderError => ({
  type: "api_error",
  message: `The model ended without an answer: ${reason}${message ? ` (${message})` : ""}.`,
});

function endSteps(seen: Seen, candidate: Json | null, blocked: string | null): ReplyStep[] {
  const reason = blocked === null ? textIn(candidate, "finishReason") : "SAFETY";
  if (reason === null) return [];
  const message = textIn(candidate, "finishMessage") ?? blocked;
  if (saysNothing(seen, reason)) return [{ kind: "error", error: unfinished(reason, message) }];
  seen.stop = stopOf(seen, reason, message);
  return [];
}

/** Google says STOP after calls, too, and does not say which sequence stopped it. */
function stopOf({ calls }: Seen, said: string, message: string | null): StopStep {
  const known = Object.hasOwn(REASONS, said) ? REASONS[said] : undefined;
  const reason = known ?? (calls > 0 ? "tool_use" : "end_turn");
  return { kind: "stop", reason, sequence: null, explanation: reason === "refusal" ? message : null };
}
