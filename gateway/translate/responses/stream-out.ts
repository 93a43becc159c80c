import type { AnswerOptions } from "../prompt.ts";
import { addStep, type Block, emptyReply, type Reply, type ReplyStep } from "../reply.ts";
import { customInput } from "../tool-arguments.ts";
import { namedEvent, type StepWriter, type WriterContext } from "../writing.ts";
import {
  annotationOf,
  contentPart,
  isItem,
  isWrittenWhole,
  itemId,
  itemOf,
  keepItems,
  responseObject,
  responseStatus,
  shownBlocks,
} from "./answer-out.ts";

/** Makes the text of an event; numbers them as they go. */
type Emit = (type: string, members: object) => string;

/** The item under way. */
type Item = { block: Block; output_index: number; id: string };

/** Writes an answer as a stream of response events, in the order in which OpenAI sends them. */
export function responseWriter(writing: WriterContext): StepWriter {
  const reply = emptyReply();
  let sequence_number = 0;
  const emit: Emit = (type, members) => namedEvent({ type, sequence_number: sequence_number++, ...members });
  const whole = (type: string, status: Parameters<typeof responseObject>[2]) =>
    emit(type, { response: responseObject(reply, writing, status) });
  const begin = () => whole("response.created", "in_progress") + whole("response.in_progress", "in_progress");

  return (step) => {
    addStep(reply, step);
    switch (step.kind) {
      case "start":
        return begin();
      case "stop":
        return "";
      case "end":
      case "error": {
        if (step.kind === "end") keepItems(reply, writing);
        // OpenAI's client takes no end without a beginning.
        const begun = sequence_number === 0 ? begin() : "";
        const status = responseStatus(reply);
        return begun + whole(`response.${status}`, status);
      }
      default: {
        const item = itemUnderWay(reply, writing);
        return item ? itemEvents(step, item, { emit, writing }) : "";
      }
    }
  };
}

function itemUnderWay(reply: Reply, { options, token }: WriterContext): Item | null {
  const block = reply.blocks.at(-1);
  if (!block || !isItem(block.kind, options)) return null;
  const output_index = shownBlocks(reply, options).length - 1;
  return { block, output_index, id: itemId(token, block.kind, output_index) };
}

type BlockStep = Extract<ReplyStep, { kind: "open" | "more" | "sign" | "cite" | "close" }>;
type Context = { emit: Emit; writing: WriterContext };

function itemEvents(step: BlockStep, item: Item, context: Context): string {
  const { emit, writing } = context;
  const { block, output_index, id } = item;
  const itemAs = (status: "in_progress" | "completed") => ({
    output_index,
    item: itemOf(block, { ...writing, id, status }),
  });
  if (isWrittenWhole(block, writing.options)) {
    if (step.kind !== "close") return "";
    const added = emit("response.output_item.added", itemAs("in_progress"));
    return (
      added +
      customEvents(item, context) +
      searchEvents(item, context) +
      emit("response.output_item.done", itemAs("completed"))
    );
  }
  switch (step.kind) {
    case "open":
      return emit("response.output_item.added", itemAs("in_progress")) + partOpened(item, context);
    case "more":
      return delta(item, step.text, context);
    case "sign":
      return "";
    case "cite":
      return cited(item, context);
    case "close":
      return partClosed(item, context) + emit("response.output_item.done", itemAs("completed"));
  }
}

/** A custom tool's input is a text, which its call holds in JSON. */
function customEvents(item: Item, { emit, writing }: Context): string {
  const { block } = item;
  if (block.kind !== "call" || writing.options.forms?.get(block.name)?.as !== "custom") return "";
  const input = customInput(block.text);
  const type = "response.custom_tool_call_input";
  return (
    emit(`${type}.delta`, { ...place(item), delta: input }) + emit(`${type}.done`, { ...place(item), input })
  );
}

const ownName = (name: string, { forms }: AnswerOptions): string => {
  const form = forms?.get(name);
  return form?.as === "namespaced" ? form.name : name;
};

const place = ({ id, output_index }: Item) => ({ item_id: id, output_index });

function partOpened(item: Item, { emit, writing }: Context): string {
  const { block } = item;
  if (block.kind === "text" || block.kind === "refusal") {
    const part = contentPart({ ...block, text: "" });
    return emit("response.content_part.added", { ...place(item), content_index: 0, part });
  }
  if (block.kind !== "thinking" || !writing.options.thinking) return "";
  const part = { type: "summary_text", text: "" };
  return emit("response.reasoning_summary_part.added", { ...place(item), summary_index: 0, part });
}

function delta(item: Item, text: string, { emit, writing }: Context): string {
  const at = { ...place(item), delta: text };
  switch (item.block.kind) {
    case "text":
      return emit("response.output_text.delta", { ...at, content_index: 0, logprobs: [] });
    case "refusal":
      return emit("response.refusal.delta", { ...at, content_index: 0 });
    case "call":
      return emit("response.function_call_arguments.delta", at);
    case "thinking":
      return writing.options.thinking
        ? emit("response.reasoning_summary_text.delta", { ...at, summary_index: 0 })
        : "";
    case "redacted":
    case "extra":
    case "search":
    case "image":
      return "";
  }
}

function cited(item: Item, { emit }: Context): string {
  const { block } = item;
  const citations = block.kind === "text" ? (block.citations ?? []) : [];
  const last = citations.at(-1);
  if (block.kind !== "text" || !last) return "";
  const at = { ...place(item), content_index: 0, annotation_index: citations.length - 1 };
  return emit("response.output_text.annotation.added", { ...at, annotation: annotationOf(last, block.text) });
}

const searchEvents = (item: Item, { emit }: Context): string =>
  item.block.kind === "search"
    ? ["in_progress", "searching", "completed"]
        .map((state) => emit(`response.web_search_call.${state}`, place(item)))
        .join("")
    : "";

function partClosed(item: Item, { emit, writing }: Context): string {
  const { block } = item;
  const at = place(item);
  switch (block.kind) {
    case "text":
    case "refusal": {
      const done =
        block.kind === "text"
          ? emit("response.output_text.done", { ...at, content_index: 0, text: block.text, logprobs: [] })
          : emit("response.refusal.done", { ...at, content_index: 0, refusal: block.text });
      const part = contentPart(block);
      return done + emit("response.content_part.done", { ...at, content_index: 0, part });
    }
    case "call":
      return emit("response.function_call_arguments.done", {
        ...at,
        name: ownName(block.name, writing.options),
        arguments: block.text || "{}",
      });
    case "thinking": {
      if (!writing.options.thinking) return "";
      const summary = { ...at, summary_index: 0 };
      const part = { type: "summary_text", text: block.text };
      return (
        emit("response.reasoning_summary_text.done", { ...summary, text: block.text }) +
        emit("response.reasoning_summary_part.done", { ...summary, part })
      );
    }
    case "redacted":
    case "extra":
    case "search":
    case "image":
      return "";
  }
}
