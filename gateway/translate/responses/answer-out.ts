import { responsesCounts } from "../counts.ts";
import { errorCode } from "../error-shapes.ts";
import type { Json } from "../exact-json.ts";
import type { AnswerOptions } from "../prompt.ts";
import type { Block, Reply } from "../reply.ts";
import type { Seal } from "../sealed.ts";
import type { WriterContext } from "../writing.ts";

export type ItemStatus = "in_progress" | "completed";

/** A whole answer as a response. */
export function writeResponse(reply: Reply, writing: WriterContext): object {
  keepItems(reply, writing);
  return responseObject(reply, writing, responseStatus(reply));
}

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";

export function responseStatus({ error, stop, blocks }: Reply): ResponseStatus {
  if (error) return "failed";
  if (stop?.reason === "max_tokens") return "incomplete";
  const isShown = blocks.some(({ kind }) => kind === "refusal");
  return stop?.reason === "refusal" && !isShown ? "incomplete" : "completed";
}

export function responseObject(reply: Reply, writing: WriterContext, status: ResponseStatus): object {
  const { options, createdSeconds, usage } = writing;
  const ended = status !== "in_progress";
  return {
    id: `resp_${writing.token}`,
    object: "response",
    created_at: createdSeconds,
    status,
    error: reply.error && { code: errorCode(reply.error), message: reply.error.message },
    incomplete_details: status === "incomplete" ? { reason: incompleteReason(reply) } : null,
    model: reply.model,
    output: ended ? outputItems(reply, writing) : [],
    ...options.echo,
    usage: ended ? responsesCounts(usage()) : null,
  };
}

const incompleteReason = ({ stop }: Reply) =>
  stop?.reason === "max_tokens" ? "max_output_tokens" : "content_filter";

/** Reasoning is an item where its summary or its packed form was requested. */
export const isItem = (kind: Block["kind"], { thinking, signed }: AnswerOptions): boolean =>
  kind === "thinking" ? thinking || signed : (kind !== "redacted" && kind !== "extra") || signed;

export const shownBlocks = ({ blocks }: Reply, options: AnswerOptions): Block[] =>
  blocks.filter(({ kind }) => isItem(kind, options));

const outputItems = (reply: Reply, { options, token, seal }: WriterContext): object[] =>
  shownBlocks(reply, options).map((block, index) =>
    itemOf(block, { id: itemId(token, block.kind, index), options, seal, status: "completed" }),
  );

/** Keeps the items for later calls: all of them and with signatures, whatever the client gets. */
export function keepItems({ blocks }: Reply, { options, token, seal, keep }: WriterContext): void {
  if (!options.kept) return;
  const all = { ...options, thinking: true, signed: true };
  let index = 0;
  keep(
    blocks.map((block) => ({
      id: isItem(block.kind, options) ? itemId(token, block.kind, index++) : null,
      item: itemOf(block, { options: all, seal, status: "completed" }),
    })),
  );
}

const PREFIXES = {
  text: "msg",
  refusal: "msg",
  thinking: "rs",
  redacted: "rs",
  extra: "rs",
  call: "fc",
} as const;

export const itemId = (token: string, kind: Block["kind"], index: number): string =>
  `${PREFIXES[kind]}_${token}_${index}`;

/** A block as an output item; while it is in progress, without what is still to come. */
export function itemOf(
  block: Block,
  { id, options, seal, status }: { id?: string; options: AnswerOptions; seal: Seal; status: ItemStatus },
): Json {
  const whole = status === "completed";
  const named = id === undefined ? {} : { id };
  switch (block.kind) {
    case "text":
    case "refusal":
      return {
        ...named,
        type: "message",
        status,
        role: "assistant",
        content: whole ? [contentPart(block)] : [],
      };
    case "thinking":
    case "redacted":
    case "extra":
      return {
        ...named,
        type: "reasoning",
        summary: whole && options.thinking ? summaryOf(block) : [],
        ...(options.signed ? { encrypted_content: whole ? seal(block) : null } : {}),
      };
    case "call": {
      const { id: call_id, name, text } = block;
      return { ...named, type: "function_call", status, call_id, name, arguments: whole ? text || "{}" : "" };
    }
  }
}

export const contentPart = ({ kind, text }: Extract<Block, { kind: "text" | "refusal" }>): object =>
  kind === "refusal"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: [], logprobs: [] };

const summaryOf = (block: Block): object[] =>
  block.kind === "thinking" && block.text !== "" ? [{ type: "summary_text", text: block.text }] : [];
