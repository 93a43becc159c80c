/** Why a model stopped, in the words of the messages format, which has the most. */
export type StopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";

/**
 * One step of an answer, in no format. Blocks come one after the other, as the messages and responses formats want
 * them: what belongs to a block follows it until `close`. A whole answer is its steps, too.
 */
export type ReplyStep =
  | { kind: "start"; id: string; model: string }
  | { kind: "open"; block: OpenBlock }
  /** More of the open block: its text, its reasoning or its arguments. */
  | { kind: "more"; text: string }
  | { kind: "sign"; signature: string }
  /** What the open text cites. */
  | { kind: "cite"; citation: Citation }
  | { kind: "close" }
  | { kind: "stop"; reason: StopReason; sequence: string | null; explanation: string | null }
  /** The provider marked the answer as complete. */
  | { kind: "end" }
  | { kind: "error"; error: ProviderError };

export type StopStep = Extract<ReplyStep, { kind: "stop" }>;

/** Of a page on the web. `place`: in the text; null: all of it. `quote`: the page's own words. */
export type Citation = {
  url: string;
  title: string;
  quote: string | null;
  place: { start: number; end: number } | null;
};

/** A search of the web that the vendor ran. */
export type SearchBlock = {
  kind: "search";
  id: string;
  query: string;
  sources: { url: string; title: string }[];
};

/** A picture that the model made; `data` is base64. */
export type ImageBlock = { kind: "image"; mediaType: string; data: string };

export type OpenBlock =
  | SearchBlock
  | ImageBlock
  | { kind: "text" | "thinking" | "refusal" }
  | { kind: "redacted"; data: string }
  | { kind: "extra"; data: string }
  | { kind: "call"; id: string; name: string };

/** An error of the provider's, in words of no format: `type` is one of `error-shapes.ts`. */
export type ProviderError = { type: string; message: string };

/**
 * A block with all that came for it. `extra` is the JSON of what a provider put beside the next call or text and
 * wants back there: Gemini's thought signature, as Google's address in OpenAI's format writes it.
 */
export type Block =
  | SearchBlock
  | ImageBlock
  | { kind: "text" | "refusal"; text: string; citations?: Citation[] }
  | { kind: "thinking"; text: string; signature: string | null }
  | { kind: "redacted"; data: string }
  | { kind: "extra"; data: string }
  | { kind: "call"; id: string; name: string; text: string };

/** An answer so far. */
export type Reply = {
  id: string;
  model: string;
  blocks: Block[];
  stop: StopStep | null;
  error: ProviderError | null;
};

export const emptyReply = (): Reply => ({
  id: "",
  model: "",
  blocks: [],
  stop: null,
  error: null,
});

export function addStep(reply: Reply, step: ReplyStep): void {
  switch (step.kind) {
    case "start":
      reply.id = step.id;
      reply.model = step.model;
      return;
    case "open":
      reply.blocks.push(blockOf(step.block));
      return;
    case "more":
    case "sign":
    case "cite":
      grow(reply.blocks.at(-1), step);
      return;
    case "stop":
      reply.stop = step;
      return;
    case "close":
    case "end":
      return;
    case "error":
      reply.error = step.error;
      return;
  }
}

function blockOf(open: OpenBlock): Block {
  if (open.kind === "call") return { ...open, text: "" };
  if ("data" in open || open.kind === "search") return open;
  if (open.kind === "thinking") return { kind: "thinking", text: "", signature: null };
  return { kind: open.kind, text: "" };
}

function grow(block: Block | undefined, step: Extract<ReplyStep, { kind: "more" | "sign" | "cite" }>): void {
  if (!block || !("text" in block)) return;
  if (step.kind === "more") block.text += step.text;
  else if (step.kind === "cite") {
    if (block.kind === "text") block.citations = [...(block.citations ?? []), step.citation];
  } else if (block.kind === "thinking") block.signature = step.signature;
}

export function replyOf(steps: readonly ReplyStep[]): Reply {
  const reply = emptyReply();
  for (const step of steps) addStep(reply, step);
  return reply;
}
