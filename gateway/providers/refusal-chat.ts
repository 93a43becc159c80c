import type { Refusal, Written } from "./refusal.ts";

const USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** A refusal as a chat completion. */
export function chatRefusal(refusal: Refusal): Written {
  const body = refusal.streamed ? streamOf(refusal) : JSON.stringify(completionOf(refusal));
  return { body, idHeader: "x-request-id" };
}

const envelopeOf = ({ id, createdAt, model }: Refusal, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: createdAt,
  model,
  service_tier: "default",
  system_fingerprint: null,
});

const completionOf = (refusal: Refusal) => ({
  ...envelopeOf(refusal, "chat.completion"),
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: refusal.text, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: USAGE,
});

function streamOf(refusal: Refusal): string {
  const envelope = envelopeOf(refusal, "chat.completion.chunk");
  const unasked = refusal.usageAsked ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...unasked,
  });
  const chunks = [
    chunk({ role: "assistant", content: "", refusal: null }, null),
    chunk({ content: refusal.text }, null),
    chunk({}, "stop"),
    ...(refusal.usageAsked ? [{ ...envelope, choices: [], usage: USAGE }] : []),
  ];
  return `${chunks.map((it) => `data: ${JSON.stringify(it)}\n\n`).join("")}data: [DONE]\n\n`;
}
