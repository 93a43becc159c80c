import { type Echoed, echoOf, jsonAnswer, requestIdOf, streamAnswer } from "./echo-text.ts";
import { countOf, nameOf, objectOf, type Told } from "./provider-json.ts";

/** The built-in provider's chat completion. */
export function echoChat(body: Told, id: string): Response {
  const echoed = echoOf(body, countOf(body["max_completion_tokens"]) ?? countOf(body["max_tokens"]));
  const model = nameOf(body["model"]) ?? "echo";
  if (body["stream"] !== true) return jsonAnswer(completion(echoed, model, id), 200, requestIdOf(id));
  const usageAsked = objectOf(body["stream_options"])?.["include_usage"] === true;
  const events = chunks(echoed, { model, id, usageAsked }).map(
    (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
  );
  return streamAnswer(`${events.join("")}data: [DONE]\n\n`, requestIdOf(id));
}

export const refuseChat = (message: string, id: string): Response =>
  jsonAnswer(
    { error: { message, type: "invalid_request_error", param: null, code: null } },
    400,
    requestIdOf(id),
  );

const finishReason = ({ cut }: Echoed): string => (cut ? "length" : "stop");

const usageOf = ({ inputTokens, outputTokens }: Echoed) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

const completion = (echoed: Echoed, model: string, id: string) => ({
  id: `chatcmpl-echo-${id}`,
  object: "chat.completion",
  created: 0,
  model,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: echoed.text, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: finishReason(echoed),
    },
  ],
  usage: usageOf(echoed),
  service_tier: "default",
  system_fingerprint: null,
});

type Streamed = { model: string; id: string; usageAsked: boolean };

/** Role, one chunk for each token, finish, and usage where it was asked for: then the others say `usage: null`. */
function chunks(echoed: Echoed, { model, id, usageAsked }: Streamed): object[] {
  const envelope = {
    id: `chatcmpl-echo-${id}`,
    object: "chat.completion.chunk",
    created: 0,
    model,
    service_tier: "default",
    system_fingerprint: null,
  };
  const unasked = usageAsked ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...unasked,
  });
  return [
    chunk({ role: "assistant", content: "", refusal: null }, null),
    ...echoed.pieces.map((content) => chunk({ content }, null)),
    chunk({}, finishReason(echoed)),
    ...(usageAsked ? [{ ...envelope, choices: [], usage: usageOf(echoed) }] : []),
  ];
}
