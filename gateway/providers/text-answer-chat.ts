import type { TextAnswer } from "./text-answer.ts";

/** A text answer as a chat completion, whole or streamed. */
export function chatText(answer: TextAnswer): string {
  if (!answer.streamed) return JSON.stringify(completionOf(answer));
  const events = chunksOf(answer).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return `${events.join("")}data: [DONE]\n\n`;
}

const envelopeOf = ({ id, createdAt, model }: TextAnswer, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: createdAt,
  model,
  service_tier: "default",
  system_fingerprint: null,
});

const finishReason = ({ truncated }: TextAnswer): string => (truncated ? "length" : "stop");

const usageOf = ({ inputTokens, outputTokens }: TextAnswer) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

const completionOf = (answer: TextAnswer) => ({
  ...envelopeOf(answer, "chat.completion"),
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: answer.pieces.join(""), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: finishReason(answer),
    },
  ],
  usage: usageOf(answer),
});

/** Role, one chunk for each piece, finish; with the usage chunk, all others carry `usage: null`. */
function chunksOf(answer: TextAnswer): object[] {
  const envelope = envelopeOf(answer, "chat.completion.chunk");
  const noUsage = answer.includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...noUsage,
  });
  return [
    chunk({ role: "assistant", content: "", refusal: null }, null),
    ...answer.pieces.map((content) => chunk({ content }, null)),
    chunk({}, finishReason(answer)),
    ...(answer.includeUsage ? [{ ...envelope, choices: [], usage: usageOf(answer) }] : []),
  ];
}
