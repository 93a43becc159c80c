import { type TextAnswer, typedEvents } from "./text-answer.ts";

/** A text answer as a message, whole or streamed. */
export const messagesText = (answer: TextAnswer): string =>
  answer.streamed ? typedEvents(eventsOf(answer)) : JSON.stringify(messageOf(answer));

const emptyMessage = ({ id, model }: TextAnswer) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

const stopReason = ({ truncated }: TextAnswer): string => (truncated ? "max_tokens" : "end_turn");

const usageOf = ({ inputTokens }: TextAnswer, outputTokens: number) => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: outputTokens,
  service_tier: "standard",
});

function messageOf(answer: TextAnswer) {
  const text = answer.pieces.join("");
  return {
    ...emptyMessage(answer),
    content: text === "" ? [] : [{ type: "text", text }],
    stop_reason: stopReason(answer),
    usage: usageOf(answer, answer.outputTokens),
  };
}

/** `message_start` reports a provisional output count, as the vendor's does; `message_delta` the final one. */
const eventsOf = (answer: TextAnswer) => [
  {
    type: "message_start",
    message: { ...emptyMessage(answer), usage: usageOf(answer, Math.min(1, answer.outputTokens)) },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  ...answer.pieces.map((text) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text },
  })),
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: stopReason(answer), stop_sequence: null },
    usage: { output_tokens: answer.outputTokens },
  },
  { type: "message_stop" },
];
