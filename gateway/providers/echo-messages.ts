import { type Echoed, echoOf, jsonAnswer, streamAnswer } from "./echo-text.ts";
import { countOf, nameOf, type Told } from "./provider-json.ts";

/** The built-in provider's message. */
export function echoMessages(body: Told, id: string): Response {
  const echoed = echoOf(body, countOf(body["max_tokens"]));
  const model = nameOf(body["model"]) ?? "echo";
  if (body["stream"] !== true) {
    const content = echoed.text === "" ? [] : [{ type: "text", text: echoed.text }];
    const message = { ...messageOf(model, id), content, stop_reason: stopReason(echoed) };
    return jsonAnswer({ ...message, usage: usageOf(echoed, echoed.outputTokens) }, 200, requestId(id));
  }
  const events = eventsOf(echoed, model, id);
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return streamAnswer(text, requestId(id));
}

/** What the built-in provider would count as the input of a message. */
export const echoCountTokens = (body: Told, id: string): Response =>
  jsonAnswer({ input_tokens: echoOf(body, 0).inputTokens }, 200, requestId(id));

export const refuseMessages = (message: string, id: string): Response =>
  jsonAnswer(
    { type: "error", error: { type: "invalid_request_error", message }, request_id: `req_echo_${id}` },
    400,
    requestId(id),
  );

const requestId = (id: string) => ({ "request-id": `req_echo_${id}` });

const stopReason = ({ cut }: Echoed): string => (cut ? "max_tokens" : "end_turn");

const messageOf = (model: string, id: string) => ({
  id: `msg_echo_${id}`,
  type: "message",
  role: "assistant",
  model,
  content: [] as object[],
  stop_reason: null as string | null,
  stop_sequence: null,
});

const usageOf = ({ inputTokens }: Echoed, outputTokens: number) => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: outputTokens,
  service_tier: "standard",
});

type StreamEvent = { type: string; [member: string]: unknown };

/** `message_start` tells a provisional output of 1, as the vendor's does; `message_delta` tells the final one. */
function eventsOf(echoed: Echoed, model: string, id: string): StreamEvent[] {
  const delta = (text: string) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text },
  });
  return [
    { type: "message_start", message: { ...messageOf(model, id), usage: usageOf(echoed, 1) } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...echoed.pieces.map(delta),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: stopReason(echoed), stop_sequence: null },
      usage: { output_tokens: echoed.outputTokens },
    },
    { type: "message_stop" },
  ];
}
