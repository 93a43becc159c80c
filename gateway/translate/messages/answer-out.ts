import { NO_USAGE } from "#shared/usage.ts";
import { messagesCounts } from "../counts.ts";
import { streamError } from "../error-shapes.ts";
import type { AnswerOptions } from "../prompt.ts";
import { addStep, type Block, emptyReply, type OpenBlock, type Reply, type ReplyStep } from "../reply.ts";
import type { Seal } from "../sealed.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { namedEvent, type StepWriter, type WriterContext } from "../writing.ts";

/** A whole answer as a message. */
export const writeMessage = (reply: Reply, { usage, options, seal }: WriterContext): object => ({
  ...envelope(reply),
  content: reply.blocks
    .filter(({ kind }) => isShown(kind, options))
    .map((block) => contentBlock(block, seal)),
  ...stopMembers(reply.stop),
  usage: { ...messagesCounts(usage()), ...VENDOR_ONLY },
});

const envelope = ({ id, model }: Reply) => ({
  id,
  type: "message",
  role: "assistant",
  model,
  container: null,
  diagnostics: null,
});

/** Members of usage that only the vendor itself knows. */
const VENDOR_ONLY = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };

type Stop = Extract<ReplyStep, { kind: "stop" }>;

const stopMembers = (stop: Stop | null) => ({
  stop_reason: stop?.reason ?? null,
  stop_sequence: stop?.sequence ?? null,
  stop_details:
    stop?.reason === "refusal" ? { type: "refusal", category: null, explanation: stop.explanation } : null,
});

/** Only a client that requested reasoning gets it: others take the first block for the answer. */
const isShown = (kind: Block["kind"], { thinking }: AnswerOptions): boolean =>
  thinking || (kind !== "thinking" && kind !== "redacted" && kind !== "extra");

/** Thoughts of other vendors are sealed, so that they come back. */
function contentBlock(block: Block, seal: Seal): object {
  switch (block.kind) {
    case "text":
    case "refusal":
      return { type: "text", text: block.text, citations: null };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: seal(block) ?? "" };
    case "redacted":
    case "extra":
      return { type: "redacted_thinking", data: seal(block) ?? "" };
    case "call":
      return toolUse(block, argumentsObject(block.text));
  }
}

const toolUse = ({ id, name }: { id: string; name: string }, input: object) => ({
  type: "tool_use",
  id,
  name,
  input,
  caller: { type: "direct" },
});

function openedBlock(block: OpenBlock, seal: Seal): object {
  if (block.kind === "call") return toolUse(block, {});
  if (block.kind === "redacted" || block.kind === "extra") return contentBlock(block, seal);
  if (block.kind === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { type: "text", text: "", citations: null };
}

const DELTAS = {
  text: (text: string) => ({ type: "text_delta", text }),
  refusal: (text: string) => ({ type: "text_delta", text }),
  thinking: (thinking: string) => ({ type: "thinking_delta", thinking }),
  call: (partial_json: string) => ({ type: "input_json_delta", partial_json }),
} as const;

/** Writes an answer as a stream of message events, in the order in which Anthropic sends them. */
export function messageWriter({ options, usage, seal }: WriterContext): StepWriter {
  const reply = emptyReply();
  let index = -1;
  let stop: Stop | null = null;

  const event = (type: string, members: object) => namedEvent({ type, ...members });
  const delta = (members: object) => event("content_block_delta", { index, delta: members });

  const start = () =>
    event("message_start", {
      message: {
        ...envelope(reply),
        content: [],
        ...stopMembers(null),
        // The counts come at the end: `message_delta` brings them all.
        usage: { ...messagesCounts(NO_USAGE), ...VENDOR_ONLY },
      },
    });

  const inBlock = (step: ReplyStep, block: Block): string => {
    switch (step.kind) {
      case "open":
        index += 1;
        return event("content_block_start", { index, content_block: openedBlock(step.block, seal) });
      case "more":
        return block.kind in DELTAS ? delta(DELTAS[block.kind as keyof typeof DELTAS](step.text)) : "";
      case "close": {
        const signature = block.kind === "thinking" ? seal(block) : null;
        const signed = signature === null ? "" : delta({ type: "signature_delta", signature });
        return signed + event("content_block_stop", { index });
      }
      default:
        return "";
    }
  };

  return (step) => {
    addStep(reply, step);
    const block = reply.blocks.at(-1);
    switch (step.kind) {
      case "start":
        return start();
      case "stop":
        // The counts may still come, so it is sent at the end.
        stop = step;
        return "";
      case "end":
        return (
          event("message_delta", {
            delta: { ...stopMembers(stop), container: null },
            usage: messagesCounts(usage()),
          }) + event("message_stop", {})
        );
      case "error":
        return `event: error\ndata: ${JSON.stringify(streamError("messages", step.error))}\n\n`;
      default:
        return block && isShown(block.kind, options) ? inBlock(step, block) : "";
    }
  };
}
