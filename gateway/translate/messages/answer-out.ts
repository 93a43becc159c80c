import { NO_USAGE } from "#shared/usage.ts";
import { messagesCounts } from "../counts.ts";
import { streamError } from "../error-shapes.ts";
import type { AnswerOptions } from "../prompt.ts";
import type { Block, Citation, OpenBlock, Reply, ReplyStep, SearchBlock, StopStep } from "../reply.ts";
import { addStep, emptyReply } from "../reply.ts";
import { UNREADABLE } from "../thoughts.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { messagesSearchBlocks, writtenMessagesCitation } from "../web-search.ts";
import { namedEvent, type StepWriter, type WriterContext } from "../writing.ts";

/** A whole answer as a message. */
export const writeMessage = (reply: Reply, { usage, options, seal }: WriterContext): object => ({
  ...envelope(reply),
  content: reply.blocks
    .filter((block) => isShown(block.kind, options) && !isNothing(block, { options, seal }))
    .flatMap((block) =>
      block.kind === "search" ? messagesSearchBlocks(block) : contentBlock(block, { options, seal }),
    ),
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

const stopMembers = (stop: StopStep | null) => ({
  stop_reason: stop?.reason ?? null,
  stop_sequence: stop?.sequence ?? null,
  stop_details:
    stop?.reason === "refusal" ? { type: "refusal", category: null, explanation: stop.explanation } : null,
});

/** Only a client that requested reasoning gets it: others take the first block for the answer. */
const isShown = (kind: Block["kind"], { thinking }: AnswerOptions): boolean =>
  thinking || (kind !== "thinking" && kind !== "redacted" && kind !== "extra");

type Writing = Pick<WriterContext, "options" | "seal">;

/** A thought whose text is omitted, and which no vendor takes back. */
const isNothing = (block: Block, { options, seal }: Writing): boolean =>
  block.kind === "thinking" && options.omitted === true && seal(block) === null;

/** Thoughts of other vendors are sealed, so that they come back. */
function contentBlock(block: Exclude<Block, SearchBlock>, { options, seal }: Writing): object {
  switch (block.kind) {
    case "text":
    case "refusal": {
      const citations = block.citations?.map((it) => writtenMessagesCitation(it, block.text)) ?? null;
      return { type: "text", text: block.text, citations };
    }
    // Answers have no pictures there.
    case "image":
      return {
        type: "text",
        text: `[A picture (${block.mediaType}), which this format cannot show.]`,
        citations: null,
      };
    case "thinking":
      return {
        type: "thinking",
        thinking: options.omitted ? "" : block.text,
        signature: seal(block) ?? UNREADABLE,
      };
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

function openedBlock(block: OpenBlock, writing: Writing): object {
  if (block.kind === "search") return messagesSearchBlocks(block)[1];
  if (block.kind === "call") return toolUse(block, {});
  if (block.kind === "redacted" || block.kind === "extra" || block.kind === "image")
    return contentBlock(block, writing);
  if (block.kind === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { type: "text", text: "", citations: null };
}

const DELTAS = {
  text: (text: string) => ({ type: "text_delta", text }),
  refusal: (text: string) => ({ type: "text_delta", text }),
  thinking: (thinking: string) => ({ type: "thinking_delta", thinking }),
  call: (partial_json: string) => ({ type: "input_json_delta", partial_json }),
} as const;

const isStreamed = (block: Block): block is Extract<Block, { kind: keyof typeof DELTAS }> =>
  block.kind in DELTAS;

const event = (type: string, members: object): string => namedEvent({ type, ...members });

/** The counts come at the end: `message_delta` brings them all. */
const started = (reply: Reply): string =>
  event("message_start", {
    message: {
      ...envelope(reply),
      content: [],
      ...stopMembers(null),
      usage: { ...messagesCounts(NO_USAGE), ...VENDOR_ONLY },
    },
  });

/** A search before its result. */
function searchUse(block: SearchBlock, index: number): string {
  const [use] = messagesSearchBlocks(block);
  const delta = { type: "input_json_delta", partial_json: JSON.stringify({ query: block.query }) };
  return (
    event("content_block_start", { index, content_block: { ...use, input: {} } }) +
    event("content_block_delta", { index, delta }) +
    event("content_block_stop", { index })
  );
}

const cited = (citation: Citation, block: Block): object[] =>
  block.kind === "text"
    ? [{ type: "citations_delta", citation: writtenMessagesCitation(citation, block.text) }]
    : [];

/** Writes an answer as a stream of message events, in the order in which Anthropic sends them. */
export function messageWriter({ options, usage, seal }: WriterContext): StepWriter {
  const reply = emptyReply();
  let index = -1;
  let stop: StopStep | null = null;

  const delta = (members: object) => event("content_block_delta", { index, delta: members });

  const opening = (block: OpenBlock): string => {
    index += 1;
    const before = block.kind === "search" ? searchUse(block, index++) : "";
    return (
      before + event("content_block_start", { index, content_block: openedBlock(block, { options, seal }) })
    );
  };

  const closing = (block: Block, before = ""): string => {
    const signature = block.kind === "thinking" && (seal(block) ?? UNREADABLE);
    const signed = signature ? delta({ type: "signature_delta", signature }) : "";
    return before + signed + event("content_block_stop", { index });
  };

  const inBlock = (step: ReplyStep, block: Block): string => {
    if (block.kind === "thinking" && options.omitted) {
      const isCarried = step.kind === "close" && seal(block) !== null;
      return isCarried ? closing(block, opening({ kind: "thinking" })) : "";
    }
    switch (step.kind) {
      case "open":
        return opening(step.block);
      case "more":
        return isStreamed(block) ? delta(DELTAS[block.kind](step.text)) : "";
      case "cite":
        return cited(step.citation, block).map(delta).join("");
      case "close":
        return closing(block);
      default:
        return "";
    }
  };

  return (step) => {
    addStep(reply, step);
    const block = reply.blocks.at(-1);
    switch (step.kind) {
      case "start":
        return started(reply);
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
