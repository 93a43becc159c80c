import { readProviderError } from "../error-shapes.ts";
import { isJson, type Json, objectMember, objectsIn, type StepReader, textIn } from "../exact-json.ts";
import type { OpenBlock, ReplyStep, StopReason } from "../reply.ts";

/** The steps of a complete answer; empty for anything else. */
export function geminiSteps(answer: Json): ReplyStep[] {
  const reader = geminiStream();
  return [...reader.event(answer), ...reader.rest()];
}

type Stop = Extract<ReplyStep, { kind: "stop" }>;
type Seen = { id: string | null; open: "text" | "thinking" | null; calls: number; stop: Stop | null };

/** Reads a stream of generateContent, and only the first candidate: other formats cannot request more. */
export function geminiStream(): StepReader {
  const seen: Seen = { id: null, open: null, calls: 0, stop: null };
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
      const reason = blocked === null ? textIn(candidate, "finishReason") : "SAFETY";
      if (reason !== null) seen.stop = stopOf(seen, reason, textIn(candidate, "finishMessage") ?? blocked);
      return steps;
    },
    rest() {
      const { stop } = seen;
      if (!stop) return [];
      seen.stop = null;
      return [...close(seen), stop, { kind: "end" }];
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
  const text = textIn(part, "text") ?? "";
  if (text === "") return signed;
  const kind = part["thought"] === true ? "thinking" : "text";
  const opened: ReplyStep[] =
    seen.open === kind && signed.length === 0 ? [] : [...close(seen), { kind: "open", block: { kind } }];
  seen.open = kind;
  return [...signed, ...opened, { kind: "more", text }];
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

/** Google says STOP after calls, too, and does not say which sequence stopped it. */
function stopOf({ calls }: Seen, said: string, message: string | null): Stop {
  const known = Object.hasOwn(REASONS, said) ? REASONS[said] : undefined;
  const reason = known ?? (calls > 0 ? "tool_use" : "end_turn");
  return { kind: "stop", reason, sequence: null, explanation: reason === "refusal" ? message : null };
}
