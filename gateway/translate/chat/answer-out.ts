import { chatCounts } from "../counts.ts";
import type { AnswerOptions } from "../prompt.ts";
import type { Block, ImageBlock, Reply, StopReason } from "../reply.ts";
import { openSealed, type Seal } from "../thoughts.ts";
import { customInput } from "../tool-arguments.ts";
import { writtenUrlCitation } from "../web-search.ts";
import type { WriterContext } from "../writing.ts";

export const FINISH = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
} as const satisfies Record<StopReason, string>;

export function writeChatAnswer(
  reply: Reply,
  { createdSeconds, usage, seal, options }: WriterContext,
): object {
  const counts = chatCounts(usage());
  return {
    id: reply.id,
    object: "chat.completion",
    created: createdSeconds,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: messageOf(reply, { seal, options }),
        logprobs: null,
        finish_reason: FINISH[reply.stop?.reason ?? "end_turn"],
      },
    ],
    ...(counts ? { usage: counts } : {}),
  };
}

function messageOf(
  { blocks, stop }: Reply,
  { seal, options: { forms } }: Pick<WriterContext, "seal" | "options">,
): object {
  const texts = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  const calls = blocks.flatMap((block) => (block.kind === "call" ? [callOf(block, forms)] : []));
  const thoughts = blocks.flatMap((block) => (block.kind === "thinking" ? [block.text] : []));
  const images = blocks.flatMap((block) => (block.kind === "image" ? [imageOf(block)] : []));
  const annotations = blocks.flatMap((_, index) => annotationsOf(blocks, index));
  const details = blocks.flatMap((block, index) => detailOf(block, { index, seal }));
  return {
    role: "assistant",
    content: texts.length === 0 ? null : texts.join(""),
    refusal: stop?.explanation ?? null,
    ...(images.length > 0 ? { images } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.join("\n\n") } : {}),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
  };
}

/** As OpenRouter writes it. */
export const imageOf = ({ mediaType, data }: ImageBlock): object => ({
  type: "image_url",
  image_url: { url: `data:${mediaType};base64,${data}` },
});

/** What a text cites; it begins where the texts before it end. */
export function annotationsOf(blocks: readonly Block[], index: number): object[] {
  const block = blocks[index];
  if (block?.kind !== "text") return [];
  const before = blocks.slice(0, index).map((one) => (one.kind === "text" ? one.text.length : 0));
  const offset = before.reduce((sum, length) => sum + length, 0);
  return (block.citations ?? []).map((citation) => ({
    type: "url_citation",
    url_citation: writtenUrlCitation(citation, block.text, offset),
  }));
}

const callOf = ({ id, name, text }: Extract<Block, { kind: "call" }>, forms: AnswerOptions["forms"]) =>
  forms?.get(name)?.as === "custom"
    ? { id, type: "custom", custom: { name, input: customInput(text) } }
    : { id, type: "function", function: { name, arguments: text === "" ? "{}" : text } };

/** A reasoning block for a client to send back: signed by Anthropic, or sealed. `index`: its place among blocks. */
export function detailOf(block: Block, { index, seal }: { index: number; seal: Seal }): object[] {
  const sealed = seal(block);
  if (sealed === null) return [];
  const [opened] = openSealed(sealed);
  const plain = opened?.from === "anthropic";
  const format = plain ? "anthropic-claude-v1" : "unknown";
  if (block.kind !== "thinking") {
    const data = plain && block.kind === "redacted" ? block.data : sealed;
    return [{ type: "reasoning.encrypted", data, format, index }];
  }
  const signature = plain ? block.signature : sealed;
  return [{ type: "reasoning.text", text: block.text, signature, format, index }];
}
