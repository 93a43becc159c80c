import { responsesCounts } from "../counts.ts";
import { errorCode } from "../error-shapes.ts";
import type { Asked } from "../prompt.ts";
import type { Block, Reply } from "../reply.ts";
import type { Writing } from "../writing.ts";
import { seal } from "./sealed.ts";

export type ItemStatus = "in_progress" | "completed";

/** A whole answer as a response. */
export const writeResponse = (reply: Reply, writing: Writing): object =>
  responseObject(reply, writing, statusOf(reply));

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";

export function statusOf({ error, stop, blocks }: Reply): ResponseStatus {
  if (error) return "failed";
  if (stop?.reason === "max_tokens") return "incomplete";
  const told = blocks.some(({ kind }) => kind === "refusal");
  return stop?.reason === "refusal" && !told ? "incomplete" : "completed";
}

export function responseObject(reply: Reply, writing: Writing, status: ResponseStatus): object {
  const { asked, createdSeconds, usage } = writing;
  const ended = status !== "in_progress";
  return {
    id: `resp_${reply.id}`,
    object: "response",
    created_at: createdSeconds,
    status,
    error: reply.error && { code: errorCode(reply.error), message: reply.error.message },
    incomplete_details: status === "incomplete" ? { reason: incompleteReason(reply) } : null,
    model: reply.model,
    output: ended ? outputItems(reply, asked) : [],
    ...asked.echo,
    usage: ended ? responsesCounts(usage()) : null,
  };
}

const incompleteReason = ({ stop }: Reply) =>
  stop?.reason === "max_tokens" ? "max_output_tokens" : "content_filter";

/** Reasoning is an item where its summary or its sealed form was asked for. */
export const isItem = (kind: Block["kind"], { thinking, signed }: Asked): boolean =>
  kind === "thinking" ? thinking || signed : kind !== "redacted" || signed;

export const shownBlocks = ({ blocks }: Reply, asked: Asked): Block[] =>
  blocks.filter(({ kind }) => isItem(kind, asked));

const outputItems = (reply: Reply, asked: Asked): object[] =>
  shownBlocks(reply, asked).map((block, index) =>
    itemOf(block, { id: itemId(reply, block.kind, index), asked, status: "completed" }),
  );

const PREFIXES = { text: "msg", refusal: "msg", thinking: "rs", redacted: "rs", call: "fc" } as const;

export const itemId = ({ id }: Reply, kind: Block["kind"], index: number): string =>
  `${PREFIXES[kind]}_${id}_${index}`;

/** A block as an output item; while it is in progress, without what is still to come. */
export function itemOf(
  block: Block,
  { id, asked, status }: { id: string; asked: Asked; status: ItemStatus },
): object {
  const whole = status === "completed";
  switch (block.kind) {
    case "text":
    case "refusal":
      return { id, type: "message", status, role: "assistant", content: whole ? [contentPart(block)] : [] };
    case "thinking":
    case "redacted":
      return {
        id,
        type: "reasoning",
        summary: whole && asked.thinking ? summaryOf(block) : [],
        ...(asked.signed ? { encrypted_content: whole ? seal(block) : null } : {}),
      };
    case "call": {
      const { id: call_id, name, text } = block;
      return { id, type: "function_call", status, call_id, name, arguments: whole ? text || "{}" : "" };
    }
  }
}

export const contentPart = ({ kind, text }: Extract<Block, { kind: "text" | "refusal" }>): object =>
  kind === "refusal"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: [], logprobs: [] };

const summaryOf = (block: Block): object[] =>
  block.kind === "thinking" && block.text !== "" ? [{ type: "summary_text", text: block.text }] : [];
