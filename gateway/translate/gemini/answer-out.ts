import { inputTokens, type Usage } from "#shared/usage.ts";
import { streamError } from "../error-shapes.ts";
import { addStep, type Block, emptyReply, type Reply, type StopReason } from "../reply.ts";
import { signatureOf } from "../thoughts.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { dataEvent, type StepWriter, type WriterContext } from "../writing.ts";

const FINISH = {
  end_turn: "STOP",
  stop_sequence: "STOP",
  max_tokens: "MAX_TOKENS",
  tool_use: "STOP",
  refusal: "SAFETY",
} as const satisfies Record<StopReason, string>;

/** A whole answer as Google's generateContent. */
export function writeGeminiAnswer(reply: Reply, writing: WriterContext): object {
  const parts = reply.blocks.flatMap((block, index) => partOf(block, { reply, index, writing }));
  return chunkOf(reply, { parts, ended: true, usage: writing.usage() });
}

type Chunk = { parts: object[]; ended: boolean; usage: Usage | null };

function chunkOf({ id, model, stop, blocks }: Reply, { parts, ended, usage }: Chunk): object {
  const counts = usage && geminiCounts(usage);
  return {
    candidates: [
      {
        content: { role: "model", parts },
        ...(ended && groundingOf(blocks)),
        ...(ended && { finishReason: FINISH[stop?.reason ?? "end_turn"] }),
        ...(ended && stop?.explanation ? { finishMessage: stop.explanation } : {}),
        index: 0,
      },
    ],
    ...(counts ? { usageMetadata: counts } : {}),
    modelVersion: model,
    responseId: id,
  };
}

/** What was searched and found, and which part of a text says what of it; Google counts bytes. */
function groundingOf(blocks: readonly Block[]): object {
  const searches = blocks.filter((block) => block.kind === "search");
  const texts = blocks.flatMap((block) => (block.kind === "text" ? [block] : []));
  const cited = texts.flatMap(({ text, citations = [] }, partIndex) =>
    citations.map((citation) => ({ ...citation, partIndex, text })),
  );
  if (searches.length + cited.length === 0) return {};
  const titles = new Map(
    [...searches.flatMap(({ sources }) => sources), ...cited].map((it) => [it.url, it.title]),
  );
  const urls = [...titles.keys()];
  return {
    groundingMetadata: {
      webSearchQueries: searches.map(({ query }) => query),
      groundingChunks: urls.map((uri) => ({ web: { uri, title: titles.get(uri) } })),
      groundingSupports: cited.map(({ url, text, place, partIndex }) => {
        const { start, end } = place ?? { start: 0, end: text.length };
        const segment = {
          partIndex,
          startIndex: Buffer.byteLength(text.slice(0, start)),
          endIndex: Buffer.byteLength(text.slice(0, end)),
          text: text.slice(start, end),
        };
        return { segment, groundingChunkIndices: [urls.indexOf(url)] };
      }),
    },
  };
}

type At = { reply: Reply; index: number; writing: WriterContext };

/** A block's part. Reasoning is shown to clients that ask for thoughts; the part after it carries it in any case. */
function partOf(block: Block, { reply, index, writing }: At): object[] {
  switch (block.kind) {
    case "text":
    case "refusal":
      return [{ text: block.text, ...signed(reply, index, writing) }];
    case "thinking":
      return writing.options.thinking && block.text !== "" ? [{ text: block.text, thought: true }] : [];
    case "image":
      return [{ inlineData: { mimeType: block.mediaType, data: block.data } }];
    case "redacted":
    case "extra":
    case "search":
      return [];
    case "call": {
      const { id, name, text } = block;
      return [{ functionCall: { id, name, args: argumentsObject(text) }, ...signed(reply, index, writing) }];
    }
  }
}

const isThought = ({ kind }: Block): boolean =>
  kind === "thinking" || kind === "redacted" || kind === "extra";

/** The reasoning right before a block, as its signature. */
function signed({ blocks }: Reply, index: number, { seal }: WriterContext): object {
  const before = blocks.slice(0, index);
  const thoughts = before.slice(before.findLastIndex((block) => !isThought(block)) + 1);
  const thoughtSignature = signatureOf(thoughts, seal);
  return thoughtSignature === null ? {} : { thoughtSignature };
}

/** Counts in Gemini's format, whose candidates leave thoughts out; null if the provider reported none. */
function geminiCounts(usage: Usage): object | null {
  const input = inputTokens(usage);
  if (input === null && usage.outputTokens === null) return null;
  const [prompt, output] = [input ?? 0, usage.outputTokens ?? 0];
  const thoughts = usage.reasoningTokens ?? 0;
  return {
    promptTokenCount: prompt,
    ...(usage.cacheReadTokens ? { cachedContentTokenCount: usage.cacheReadTokens } : {}),
    candidatesTokenCount: output - thoughts,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: prompt + output,
  };
}

/** Writes an answer as a stream of Google's: texts as they come, a call when it is whole, and the end with the counts. */
export function geminiWriter(writing: WriterContext): StepWriter {
  const reply = emptyReply();
  const chunk = (parts: object[]) => dataEvent(chunkOf(reply, { parts, ended: false, usage: null }));
  return (step) => {
    addStep(reply, step);
    const block = reply.blocks.at(-1);
    const index = reply.blocks.length - 1;
    switch (step.kind) {
      case "more":
        if (!block || block.kind === "call" || !("text" in block)) return "";
        // A block's first text carries the signature.
        return partOf(block, { reply, index, writing })
          .map(({ thoughtSignature, ...part }: { thoughtSignature?: string }) =>
            chunk([
              {
                ...part,
                text: step.text,
                ...(thoughtSignature && block.text === step.text && { thoughtSignature }),
              },
            ]),
          )
          .join("");
      case "close":
        return block?.kind === "call" || block?.kind === "image"
          ? chunk(partOf(block, { reply, index, writing }))
          : "";
      case "end":
        return dataEvent(chunkOf(reply, { parts: [{ text: "" }], ended: true, usage: writing.usage() }));
      case "error":
        return dataEvent(streamError("gemini", step.error));
      default:
        return "";
    }
  };
}
