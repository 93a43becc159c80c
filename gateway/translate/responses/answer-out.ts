import { packedSummary } from "../compaction.ts";
import { responsesCounts } from "../counts.ts";
import { errorCode } from "../error-shapes.ts";
import type { Json } from "../exact-json.ts";
import type { AnswerOptions, ToolForm } from "../prompt.ts";
import type { Block, Citation, Reply } from "../reply.ts";
import type { Seal } from "../thoughts.ts";
import { argumentsObject, customInput } from "../tool-arguments.ts";
import { searchItem, writtenUrlCitation } from "../web-search.ts";
import type { WriterContext } from "../writing.ts";

export type ItemStatus = "in_progress" | "completed";

/** A whole answer as a response. */
export function writeResponse(reply: Reply, writing: WriterContext): object {
  const { messages } = writing.options.compacts ?? {};
  if (messages) {
    const { createdSeconds: created_at, token, usage } = writing;
    const output = [...messages, ...outputItems(reply, writing)];
    const head = { id: `resp_${token}`, object: "response.compaction", created_at };
    return { ...head, output, usage: responsesCounts(usage()) };
  }
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
    error: ended && reply.error ? { code: errorCode(reply.error), message: reply.error.message } : null,
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
export const isItem = (kind: Block["kind"], { thinking, signed, compacts }: AnswerOptions): boolean =>
  compacts
    ? kind === "text"
    : kind === "thinking"
      ? thinking || signed
      : (kind !== "redacted" && kind !== "extra") || signed;

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
  search: "ws",
  image: "ig",
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
  if (options.compacts && block.kind === "text") {
    return { ...named, type: "compaction", encrypted_content: packedSummary(block.text) };
  }
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
    case "image": {
      const output_format = block.mediaType.slice("image/".length);
      return {
        ...named,
        type: "image_generation_call",
        status: "completed",
        output_format,
        result: block.data,
      };
    }
    case "search":
      return { ...named, ...searchItem(block) };
    case "call":
      return { ...named, status, ...callItem(block, { form: options.forms?.get(block.name), whole }) };
  }
}

type Call = Extract<Block, { kind: "call" }>;

/** A call as the client's own tool has it. */
function callItem(
  { id: call_id, name, text }: Call,
  { form, whole }: { form?: ToolForm | undefined; whole: boolean },
): Json {
  const input = whole ? argumentsObject(text) : {};
  switch (form?.as) {
    case "custom":
      return {
        type: "custom_tool_call",
        call_id,
        ...(form.own ?? { name }),
        input: whole ? customInput(text) : "",
      };
    case "local_shell":
      return { type: "local_shell_call", call_id, action: { type: "exec", command: [], env: {}, ...input } };
    case "shell":
      return { type: "shell_call", call_id, action: { commands: [], ...input } };
    case "apply_patch":
      return { type: "apply_patch_call", call_id, operation: input };
    case "tool_search":
      return { type: "tool_search_call", call_id, execution: "client", arguments: input };
    default: {
      const own = form ? { name: form.name, namespace: form.namespace } : { name };
      return { type: "function_call", call_id, ...own, arguments: whole ? text || "{}" : "" };
    }
  }
}

/** Whether a block is written only when it is whole, because its item has no text to stream. */
export const isWrittenWhole = (block: Block, { forms, compacts }: AnswerOptions): boolean => {
  if (compacts || block.kind === "search" || block.kind === "image") return true;
  const form = block.kind === "call" ? forms?.get(block.name) : undefined;
  return form !== undefined && form.as !== "namespaced";
};

export const contentPart = ({
  kind,
  text,
  citations = [],
}: Extract<Block, { kind: "text" | "refusal" }>): object =>
  kind === "refusal"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: citations.map((it) => annotationOf(it, text)), logprobs: [] };

export const annotationOf = (citation: Citation, text: string): object => ({
  type: "url_citation",
  ...writtenUrlCitation(citation, text),
});

const summaryOf = (block: Block): object[] =>
  block.kind === "thinking" && block.text !== "" ? [{ type: "summary_text", text: block.text }] : [];
