import { type Refusal, typedEvents, type Written } from "./refusal.ts";

const USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 0,
  service_tier: "standard",
};

/** A refusal as a message. */
export function messagesRefusal(refusal: Refusal): Written {
  const body = refusal.streamed ? typedEvents(eventsOf(refusal)) : JSON.stringify(messageOf(refusal));
  return { body, idHeader: "request-id" };
}

const begun = ({ id, model }: Refusal) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  content: [] as object[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: USAGE,
});

const messageOf = (refusal: Refusal) => ({
  ...begun(refusal),
  content: [{ type: "text", text: refusal.text }],
  stop_reason: "end_turn",
});

const eventsOf = (refusal: Refusal) => [
  { type: "message_start", message: begun(refusal) },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: refusal.text } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 0 },
  },
  { type: "message_stop" },
];
