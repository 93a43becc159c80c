import { type Refusal, typedEvents, type Written } from "./refusal.ts";

/** A refusal as a response. */
export function responsesRefusal(refusal: Refusal): Written {
  const body = refusal.streamed
    ? typedEvents(eventsOf(refusal).map((event, index) => ({ ...event, sequence_number: index })))
    : JSON.stringify(responseOf(refusal));
  return { body, idHeader: "x-request-id" };
}

const responseOf = (refusal: Refusal) => ({
  id: `resp_${refusal.id}`,
  object: "response",
  created_at: refusal.createdAt,
  status: "completed",
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: refusal.model,
  output: [itemOf(refusal)],
  parallel_tool_calls: true,
  previous_response_id: null,
  service_tier: "default",
  store: false,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  usage: {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  },
});

const partOf = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const itemOf = ({ id, text }: Refusal) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [partOf(text)],
});

type StreamEvent = { type: string; [member: string]: unknown };

/** The vendor's order: until its last event a response is in progress, without output and usage. */
function eventsOf(refusal: Refusal): StreamEvent[] {
  const response = responseOf(refusal);
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  const item = itemOf(refusal);
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part: partOf("") },
    { type: "response.output_text.delta", ...at, delta: refusal.text, logprobs: [] },
    { type: "response.output_text.done", ...at, text: refusal.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: partOf(refusal.text) },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
}
