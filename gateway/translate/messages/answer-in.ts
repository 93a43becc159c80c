import { readProviderError } from "../error-shapes.ts";
import { isJson, type Json, objectMember, objectsIn, type StepReader, textIn } from "../exact-json.ts";
import type { OpenBlock, ReplyStep, StopReason } from "../reply.ts";

/** The steps of a complete message; empty if the body is not a message. */
export function messageSteps(message: Json): ReplyStep[] {
  if (!Array.isArray(message["content"])) return [];
  return [
    startOf(message),
    ...objectsIn(message, "content").flatMap((block) => {
      const open = openOf(block);
      return open
        ? [{ kind: "open", block: open } as const, ...wholeOf(block), { kind: "close" } as const]
        : [];
    }),
    stopOf(message),
    { kind: "end" },
  ];
}

const startOf = (message: Json | null): ReplyStep => ({
  kind: "start",
  id: textIn(message, "id") ?? "",
  model: textIn(message, "model") ?? "",
});

const REASONS: readonly StopReason[] = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"];

function stopOf(object: Json | null): ReplyStep {
  const said = textIn(object, "stop_reason");
  const reason = REASONS.find((known) => known === said);
  return {
    kind: "stop",
    reason: reason ?? (said === "model_context_window_exceeded" ? "max_tokens" : "end_turn"),
    sequence: textIn(object, "stop_sequence"),
    explanation: textIn(objectMember(object, "stop_details"), "explanation"),
  };
}

/** Skips blocks of tools that the vendor runs: other formats cannot request them. */
function openOf(block: Json): OpenBlock | null {
  switch (block["type"]) {
    case "text":
      return { kind: "text" };
    case "thinking":
      return { kind: "thinking" };
    case "redacted_thinking":
      return { kind: "redacted", data: textIn(block, "data") ?? "" };
    case "tool_use":
      return { kind: "call", id: textIn(block, "id") ?? "", name: textIn(block, "name") ?? "" };
    default:
      return null;
  }
}

/** The initial content of a block. */
function wholeOf(block: Json): ReplyStep[] {
  const input = block["input"];
  const text =
    block["type"] === "tool_use" && isJson(input) && Object.keys(input).length > 0
      ? JSON.stringify(input)
      : (textIn(block, "text") ?? textIn(block, "thinking"));
  const signature = textIn(block, "signature");
  return [
    ...(text ? [{ kind: "more", text } as const] : []),
    ...(signature ? [{ kind: "sign", signature } as const] : []),
  ];
}

/** Reads a stream of message events. */
export function messageStream(): StepReader {
  let open = false;
  const take: Record<string, (event: Json) => ReplyStep[]> = {
    message_start: (event) => [startOf(objectMember(event, "message"))],
    content_block_start(event) {
      const block = objectMember(event, "content_block");
      const opened = block && openOf(block);
      open = opened !== null;
      return block && opened ? [{ kind: "open", block: opened }, ...wholeOf(block)] : [];
    },
    content_block_delta: (event) => (open ? deltaSteps(objectMember(event, "delta")) : []),
    content_block_stop() {
      const closed = open;
      open = false;
      return closed ? [{ kind: "close" }] : [];
    },
    message_delta: (event) => [stopOf(objectMember(event, "delta"))],
    message_stop: () => [{ kind: "end" }],
    error: (event) => [{ kind: "error", error: readProviderError(event) }],
  };
  return {
    event(data) {
      if (data === "[DONE]") return [];
      const type = textIn(data, "type") ?? "";
      return Object.hasOwn(take, type) ? (take[type]?.(data) ?? []) : [];
    },
    rest: () => [],
  };
}

function deltaSteps(delta: Json | null): ReplyStep[] {
  const signature = textIn(delta, "signature");
  if (signature) return [{ kind: "sign", signature }];
  const text = textIn(delta, "text") ?? textIn(delta, "thinking") ?? textIn(delta, "partial_json");
  return text ? [{ kind: "more", text }] : [];
}
