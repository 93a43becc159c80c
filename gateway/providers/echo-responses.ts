import { type Echoed, echoOf, jsonAnswer, requestIdOf, streamAnswer } from "./echo-text.ts";
import { countOf, listOf, nameOf, objectOf, type Told } from "./provider-json.ts";

/** The built-in provider's response. */
export function echoResponses(body: Told, id: string): Response {
  const echoed = echoOf(conversationOf(body), countOf(body["max_output_tokens"]));
  const response = responseOf(body, echoed, id);
  if (body["stream"] !== true) return jsonAnswer(response, 200, requestIdOf(id));
  const text = eventsOf(response, echoed, id)
    .map((event, index) => ({ ...event, sequence_number: index }))
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
  return streamAnswer(text, requestIdOf(id));
}

/** The body's texts as messages: `input` is a text or a list of items, of which those without a role are none. */
function conversationOf(body: Told): Told {
  const input = body["input"];
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
  return { system: body["instructions"], messages: messages.filter((item) => objectOf(item)?.["role"]) };
}

type EchoResponse = ReturnType<typeof responseOf>;

function responseOf(body: Told, echoed: Echoed, id: string) {
  const { inputTokens, outputTokens, cut } = echoed;
  return {
    id: `resp_echo_${id}`,
    object: "response",
    created_at: 0,
    status: statusOf(echoed),
    error: null,
    incomplete_details: cut ? { reason: "max_output_tokens" } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: countOf(body["max_output_tokens"]),
    metadata: objectOf(body["metadata"]) ?? {},
    model: nameOf(body["model"]) ?? "echo",
    output: [messageOf(echoed, id)],
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
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

const statusOf = ({ cut }: Echoed) => (cut ? "incomplete" : "completed");

const messageId = (id: string) => `msg_echo_${id}`;

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const messageOf = (echoed: Echoed, id: string) => ({
  id: messageId(id),
  type: "message",
  role: "assistant",
  status: statusOf(echoed),
  content: [textPart(echoed.text)],
});

type StreamEvent = { type: string; [member: string]: unknown };

/** The vendor's order: until its last event a response is in progress, without output and usage. */
function eventsOf(response: EchoResponse, echoed: Echoed, id: string): StreamEvent[] {
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null };
  const item = messageOf(echoed, id);
  const at = { item_id: messageId(id), output_index: 0, content_index: 0 };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part: textPart("") },
    ...echoed.pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: echoed.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: textPart(echoed.text) },
    { type: "response.output_item.done", output_index: 0, item },
    { type: `response.${response.status}`, response },
  ];
}
