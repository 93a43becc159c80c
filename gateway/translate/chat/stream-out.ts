import { chatCounts } from "../counts.ts";
import { streamError } from "../error-shapes.ts";
import type { AnswerOptions } from "../prompt.ts";
import { addStep, type Block, emptyReply, type Reply, type ReplyStep, type StopStep } from "../reply.ts";
import type { Seal } from "../thoughts.ts";
import { customInput } from "../tool-arguments.ts";
import { dataEvent, type StepWriter, type WriterContext } from "../writing.ts";
import { annotationsOf, detailOf, FINISH, imageOf } from "./answer-out.ts";

/** Makes the text of a chunk. */
type Chunk = (delta: object, finishReason?: string | null) => string;

/** Writes an answer as a stream of chat chunks, in the order in which OpenAI sends them. */
export function chatWriter({ options, createdSeconds, usage, seal }: WriterContext): StepWriter {
  const reply = emptyReply();
  const envelope = (choices: object[]) => ({
    id: reply.id,
    object: "chat.completion.chunk",
    created: createdSeconds,
    model: reply.model,
    choices,
  });
  const chunk: Chunk = (delta, finish_reason = null) =>
    dataEvent({
      ...envelope([{ index: 0, delta, logprobs: null, finish_reason }]),
      ...(options.usageChunk ? { usage: null } : {}),
    });
  let begun = false;
  /** The first chunk depends on whether text follows, so it waits for the first block. */
  const begin = (step: ReplyStep): string => {
    if (begun || step.kind === "start" || step.kind === "error") return "";
    if (step.kind === "open" && step.block.kind === "search") return "";
    begun = true;
    const called = step.kind === "open" && step.block.kind !== "text";
    return chunk({ role: "assistant", content: called ? null : "", refusal: null });
  };
  const usageChunk = () => {
    const counts = options.usageChunk ? chatCounts(usage()) : null;
    return counts ? dataEvent({ ...envelope([]), usage: counts }) : "";
  };

  const written: StepWriter = (step) => {
    switch (step.kind) {
      case "start":
        return "";
      case "stop":
        return stopChunks(reply, step, chunk);
      case "end":
        return `${usageChunk()}data: [DONE]\n\n`;
      case "error":
        return dataEvent(streamError("chat", step.error));
      default:
        return blockChunk(reply, step, { chunk, seal, forms: options.forms });
    }
  };

  return (step) => {
    addStep(reply, step);
    return begin(step) + written(step);
  };
}

/** A custom tool's input is a text, which its call holds in JSON: it is sent when it is whole. Null for any other block. */
const customCall = (block: Block, forms: AnswerOptions["forms"]): object | null =>
  block.kind === "call" && forms?.get(block.name)?.as === "custom"
    ? { id: block.id, type: "custom", custom: { name: block.name, input: customInput(block.text) } }
    : null;

type BlockStep = Extract<ReplyStep, { kind: "open" | "more" | "sign" | "cite" | "close" }>;

function blockChunk(
  { blocks }: Reply,
  step: BlockStep,
  { chunk, seal, forms }: { chunk: Chunk; seal: Seal; forms: AnswerOptions["forms"] },
): string {
  const block = blocks.at(-1);
  const index = blocks.filter(({ kind }) => kind === "call").length - 1;
  const call = (members: object) => chunk({ tool_calls: [{ index, ...members }] });
  const custom = block && customCall(block, forms);
  if (custom) return step.kind === "close" ? call(custom) : "";
  switch (step.kind) {
    case "open": {
      if (step.block.kind !== "call") return "";
      const { id, name } = step.block;
      return call({ id, type: "function", function: { name, arguments: "" } });
    }
    case "more":
      return block?.kind === "call"
        ? call({ function: { arguments: step.text } })
        : chunk({ [memberOf(block)]: step.text });
    case "sign":
    case "cite":
      return "";
    case "close":
      if (block?.kind === "call") return block.text === "" ? call({ function: { arguments: "{}" } }) : "";
      return detailsChunk(blocks, { seal, chunk });
  }
}

/** What belongs to a block that is whole: thoughts as they may come back, and what a text cites. */
function detailsChunk(blocks: readonly Block[], { seal, chunk }: { seal: Seal; chunk: Chunk }): string {
  const index = blocks.length - 1;
  const block = blocks[index];
  const details = block ? detailOf(block, { index, seal }) : [];
  const annotations = annotationsOf(blocks, index);
  if (block?.kind === "image") return chunk({ images: [{ index: 0, ...imageOf(block) }] });
  if (annotations.length > 0) return chunk({ annotations });
  return details.length > 0 ? chunk({ reasoning_details: details }) : "";
}

/** `reasoning_content` is DeepSeek's name, which most clients that show reasoning know. */
function memberOf(block: Block | undefined): string {
  if (block?.kind === "refusal") return "refusal";
  return block?.kind === "thinking" ? "reasoning_content" : "content";
}

function stopChunks({ blocks }: Reply, { reason, explanation }: StopStep, chunk: Chunk): string {
  const said = blocks.some(({ kind }) => kind === "refusal");
  return (explanation && !said ? chunk({ refusal: explanation }) : "") + chunk({}, FINISH[reason]);
}
