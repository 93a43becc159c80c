import type { TextAnswer } from "./text-answer.ts";

/** A text answer as one of OpenAI's older completions, whole or streamed. */
export function completionsText(answer: TextAnswer): string {
  const end = answer.truncated ? "length" : "stop";
  if (!answer.streamed) {
    return JSON.stringify({ ...chunkOf(answer, answer.pieces.join(""), end), usage: usageOf(answer) });
  }
  const chunks: object[] = [
    ...answer.pieces.map((piece) => chunkOf(answer, piece, null)),
    chunkOf(answer, "", end),
    ...(answer.includeUsage ? [{ ...envelopeOf(answer), choices: [], usage: usageOf(answer) }] : []),
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}

const envelopeOf = ({ id, createdAt, model }: TextAnswer) => ({
  id: `cmpl-${id}`,
  object: "text_completion",
  created: createdAt,
  model,
});

const chunkOf = (answer: TextAnswer, text: string, finish_reason: string | null) => ({
  ...envelopeOf(answer),
  choices: [{ index: 0, text, logprobs: null, finish_reason }],
});

const usageOf = ({ inputTokens, outputTokens }: TextAnswer) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});
