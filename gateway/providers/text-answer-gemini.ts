import type { TextAnswer } from "./text-answer.ts";

/** A text answer as Google's generateContent, whole or streamed. */
export function geminiText(answer: TextAnswer): string {
  if (!answer.streamed) return JSON.stringify(chunkOf(answer, answer.pieces.join(""), true));
  const last = answer.pieces.length - 1;
  const chunks =
    last < 0
      ? [chunkOf(answer, "", true)]
      : answer.pieces.map((text, index) => chunkOf(answer, text, index === last));
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

/** Every chunk has the counts so far; the last one says why the answer ended. */
function chunkOf(answer: TextAnswer, text: string, ended: boolean): object {
  const { id, model, truncated, inputTokens, outputTokens } = answer;
  return {
    candidates: [
      {
        content: { parts: [{ text }], role: "model" },
        ...(ended && { finishReason: truncated ? "MAX_TOKENS" : "STOP" }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: inputTokens,
      ...(ended && { candidatesTokenCount: outputTokens }),
      totalTokenCount: inputTokens + (ended ? outputTokens : 0),
    },
    modelVersion: model,
    responseId: id,
  };
}
