import { countOf, objectOf } from "./provider-json.ts";
import { type TextAnswer, typedEvents } from "./text-answer.ts";

/** A text answer as a response, whole or streamed. */
export const responsesText = (answer: TextAnswer): string =>
  answer.streamed
    ? typedEvents(eventsOf(answer).map((event, index) => ({ ...event, sequence_number: index })))
    : JSON.stringify(responseOf(answer));

const statusOf = ({ truncated }: TextAnswer) => (truncated ? "incomplete" : "completed");

const responseOf = (answer: TextAnswer) => ({
  id: `resp_${answer.id}`,
  object: "response",
  created_at: answer.createdAt,
  status: statusOf(answer),
  error: null,
  incomplete_details: answer.truncated ? { reason: "max_output_tokens" } : null,
  instructions: answer.request?.["instructions"] ?? null,
  max_output_tokens: countOf(answer.request?.["max_output_tokens"]),
  metadata: objectOf(answer.request?.["metadata"]) ?? {},
  model: answer.model,
  output: [itemOf(answer)],
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
    input_tokens: answer.inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: answer.outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: answer.inputTokens + answer.outputTokens,
  },
});

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const itemOf = (answer: TextAnswer) => ({
  id: `msg_${answer.id}`,
  type: "message",
  role: "assistant",
  status: statusOf(answer),
  content: [textPart(answer.pieces.join(""))],
});

/** In the vendor's order: until its last event a response is in progress, without output and usage. */
function eventsOf(answer: TextAnswer) {
  const response = responseOf(answer);
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null };
  const item = itemOf(answer);
  const text = answer.pieces.join("");
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part: textPart("") },
    ...answer.pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: textPart(text) },
    { type: "response.output_item.done", output_index: 0, item },
    { type: `response.${response.status}`, response },
  ];
}
