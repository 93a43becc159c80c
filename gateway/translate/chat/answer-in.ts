import { parsedJson } from "#shared/json.ts";
import { readProviderError } from "../error-shapes.ts";
import { isJson, type Json, objectMember, objectsIn, type StepReader, textIn } from "../exact-json.ts";
import type { OpenBlock, ReplyStep, StopReason, StopStep } from "../reply.ts";
import { type BlockSerializer, blockSerializer } from "./block-serializer.ts";
import { detailsCollector, textOfDetails } from "./reasoning-details.ts";

/** The steps of a complete chat completion; empty if it has no choice. */
export function chatAnswerSteps(answer: Json, stop: readonly string[]): ReplyStep[] {
  const reader = chatStream(stop);
  const choice = objectsIn(answer, "choices")[0];
  const message = objectMember(choice ?? null, "message");
  if (!choice || !message) return [];
  const calls = objectsIn(message, "tool_calls").map((call, index) => ({ ...call, index }));
  const delta = { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const finish_reason = choice["finish_reason"] ?? "stop";
  return [
    ...reader.event({ ...answer, choices: [{ ...choice, index: 0, delta, finish_reason }] }),
    ...reader.event("[DONE]"),
  ];
}

/** The content received from a stream so far. */
type Seen = {
  blocks: BlockSerializer;
  details: ReturnType<typeof detailsCollector>;
  id: string | null;
  /** How many calls have begun, and the latest one of each index. */
  calls: number;
  latest: Map<number, Called>;
  images: number;
  refused: string;
  finish: StopStep | null;
  failed: boolean;
};

/** A call whose name has come, or not yet. */
type Called = { key: string; id: string; name: string; text: string };

/** Reads a stream of chat chunks, and only the first choice: other formats cannot request more. */
export function chatStream(stop: readonly string[]): StepReader {
  const seen: Seen = {
    blocks: blockSerializer(),
    details: detailsCollector(),
    id: null,
    calls: 0,
    latest: new Map(),
    images: 0,
    refused: "",
    finish: null,
    failed: false,
  };

  const ending = (): ReplyStep[] => {
    if (!seen.finish || seen.failed) return [];
    const steps: ReplyStep[] = [...seen.blocks.finish(), seen.finish, { kind: "end" }];
    seen.finish = null;
    seen.id = null;
    return steps;
  };

  return {
    event(data) {
      if (data === "[DONE]") {
        // Complete, though some providers give no reason.
        if (seen.id !== null) seen.finish ??= stopOf(seen, { reason: "stop", matched: null, stop });
        return ending();
      }
      if (isJson(data["error"]) || typeof data["error"] === "string") {
        seen.failed = true;
        return [{ kind: "error", error: readProviderError(data) }];
      }
      const choice = objectsIn(data, "choices").find(({ index }) => index === 0 || index === undefined);
      if (!choice) return [];
      const steps = [...start(seen, data), ...deltaSteps(seen, objectMember(choice, "delta"))];
      const reason = textIn(choice, "finish_reason");
      if (reason !== null) seen.finish = stopOf(seen, { reason, matched: choice["stop_reason"], stop });
      return steps;
    },
    // Some providers end without `[DONE]`: an answer with a finish reason is complete.
    rest: ending,
  };
}

function start(seen: Seen, chunk: Json): ReplyStep[] {
  if (seen.id !== null) return [];
  seen.id = textIn(chunk, "id") ?? "";
  return [{ kind: "start", id: seen.id, model: textIn(chunk, "model") ?? "" }];
}

function deltaSteps(seen: Seen, delta: Json | null): ReplyStep[] {
  const text = (kind: "text" | "thinking" | "refusal", said: string | null): ReplyStep[] =>
    said ? seen.blocks.add(kind, { open: () => ({ kind }) }, said) : [];
  const refusal = textIn(delta, "refusal");
  seen.refused += refusal ?? "";
  return [
    ...thoughtSteps(seen, delta),
    ...text("thinking", thoughtText(delta?.["content"])),
    ...text("text", contentText(delta?.["content"])),
    ...text("refusal", refusal),
    ...objectsIn(delta, "images").flatMap((image) => imageSteps(seen, image)),
    ...objectsIn(delta, "tool_calls").flatMap((call, at) => callSteps(seen, call, at)),
  ];
}

/** A picture as OpenRouter sends it, whole in one chunk. */
function imageSteps(seen: Seen, image: Json): ReplyStep[] {
  const url = textIn(objectMember(image, "image_url"), "url") ?? "";
  const [, mediaType, data] = /^data:([^;,]+);base64,(.+)$/s.exec(url) ?? [];
  if (!mediaType || !data) return [];
  seen.images += 1;
  return seen.blocks.add(`image ${seen.images}`, { open: () => ({ kind: "image", mediaType, data }) }, "");
}

function thoughtSteps(seen: Seen, delta: Json | null): ReplyStep[] {
  const details = objectsIn(delta, "reasoning_details");
  const said = textIn(delta, "reasoning_content") ?? textIn(delta, "reasoning") ?? textOfDetails(details);
  if (said === "" && details.length === 0) return [];
  seen.details.add(details);
  return seen.blocks.add("thinking", { open: () => ({ kind: "thinking" }), sign: seen.details.take }, said);
}

/**
 * A chunk belongs to the latest call of its index, unless it names another: Google's address in OpenAI's format and others give
 * every parallel call the index 0. Some servers give each chunk of one call an id of its own, but only the first a name; others
 * give no ids, so that a name after whole arguments is the next call's; or send the name after the id.
 */
function callSteps(seen: Seen, call: Json, at: number): ReplyStep[] {
  const index = typeof call["index"] === "number" ? call["index"] : at;
  const called = objectMember(call, "function");
  const [id, name, text] = [textIn(call, "id") ?? "", textIn(called, "name") ?? "", argumentsOf(called)];
  const before = seen.latest.get(index);
  const isWhole = before?.id === "" && name !== "" && text !== "" && isJson(parsedJson(before.text));
  const isSame = id === "" || name === "" || before?.id === "" || before?.id === id || before?.name === "";
  const lane = before && isSame && !isWhole ? before : { key: String(++seen.calls), id, name: "", text: "" };
  const isNamed = lane.name !== "";
  lane.id ||= id;
  lane.name ||= name;
  lane.text += text;
  seen.latest.set(index, lane);
  if (lane.name === "") return [];
  // Some providers give no id; the result must still find its call.
  const open = (): OpenBlock => ({
    kind: "call",
    id: lane.id || `call_${seen.id}_${lane.key}`,
    name: lane.name,
  });
  return seen.blocks.add(`call ${lane.key}`, { open }, isNamed ? text : lane.text);
}

/** A thought as Mistral sends it, in a part of the content. */
const thoughtText = (content: unknown): string | null =>
  Array.isArray(content)
    ? content.map((part) => contentText(isJson(part) ? part["thinking"] : null) ?? "").join("")
    : null;

/** Text, also where a provider sends it in parts. */
function contentText(content: unknown): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content.map((part) => (isJson(part) ? (textIn(part, "text") ?? "") : "")).join("");
}

/** JSON text; some providers send the object itself. */
function argumentsOf(called: Json | null): string {
  const input = called?.["arguments"];
  if (typeof input === "string") return input;
  return isJson(input) ? JSON.stringify(input) : "";
}

type Finish = { reason: string; matched: unknown; stop: readonly string[] };

const REASONS: Readonly<Record<string, StopReason>> = {
  length: "max_tokens",
  content_filter: "refusal",
  tool_calls: "tool_use",
  function_call: "tool_use",
};

/** Which stop sequence it was, only some providers report (vLLM: `stop_reason` beside the reason). */
function stopOf({ refused, calls }: Seen, { reason, matched, stop }: Finish): StopStep {
  const sequence = typeof matched === "string" && stop.includes(matched) ? matched : null;
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  return {
    kind: "stop",
    reason: known ?? unsaidReason(refused, calls, sequence),
    sequence: known ? null : sequence,
    explanation: refused === "" ? null : refused,
  };
}

/** What `stop` and providers' own words leave open. */
function unsaidReason(refused: string, calls: number, sequence: string | null): StopReason {
  if (refused !== "") return "refusal";
  if (calls > 0) return "tool_use";
  return sequence === null ? "end_turn" : "stop_sequence";
}
