import { describe, expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Calls in other formats to a model that its vendor serves by responses.

const MESSAGES: Pair = { from: "messages", to: "responses" };
const CHAT: Pair = { from: "chat", to: "responses" };
const THINKING = { type: "enabled", budget_tokens: 2_000 };
const BASE = {
  max_tokens: 100,
  thinking: THINKING,
  tools: [{ name: "weather", description: "Tells it.", input_schema: { type: "object" } }],
};
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
const PDF = {
  type: "document",
  title: "a.pdf",
  source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
};

const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "gpt-5",
  status: "completed",
  output: [
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "First." },
        { type: "summary_text", text: "Then." },
      ],
      encrypted_content: "gAAAA-sealed",
    },
    { type: "web_search_call", id: "ws_1", status: "completed" },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "I look.", annotations: [] }],
    },
    { type: "function_call", id: "fc_1", call_id: "call_a", name: "weather", arguments: '{"city":"A"}' },
    { type: "function_call", id: "fc_2", call_id: "call_b", name: "weather", arguments: '{"city":"B"}' },
  ],
};
/** As the vendor streams it. */
const EVENTS = [
  { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
  { type: "response.in_progress", response: { ...RESPONSE, status: "in_progress", output: [] } },
  ...RESPONSE.output.flatMap((item, output_index): object[] => {
    const at = { output_index, item_id: item.id };
    return [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, summary: [], content: [], arguments: "" },
      },
      ...(item.summary ?? []).flatMap(({ text }, summary_index) => [
        { type: "response.reasoning_summary_part.added", ...at, summary_index },
        ...[text.slice(0, 2), text.slice(2)].map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          ...at,
          summary_index,
          delta,
        })),
        { type: "response.reasoning_summary_text.done", ...at, summary_index, text },
      ]),
      ...(item.content ?? []).flatMap(({ text }, content_index) => [
        { type: "response.content_part.added", ...at, content_index },
        { type: "response.output_text.delta", ...at, content_index, delta: text },
        { type: "response.output_text.done", ...at, content_index, text },
      ]),
      ...(item.arguments
        ? [{ type: "response.function_call_arguments.delta", ...at, delta: item.arguments }]
        : []),
      { type: "response.output_item.done", output_index, item },
    ];
  }),
  { type: "response.completed", response: RESPONSE },
];

type Block = { type: string; thinking?: string; signature?: string; text?: string; input?: object };

/** The blocks of a stream of messages. */
function blocksIn(sse: string): Block[] {
  const blocks: (Block & { json: string })[] = [];
  for (const { data } of eventsIn(sse)) {
    const { content_block, delta } = data as { content_block?: Block; delta?: Record<string, string> };
    if (content_block) blocks.push({ ...content_block, json: "" });
    const last = blocks.at(-1);
    if (!last || !delta) continue;
    last.json += delta["partial_json"] ?? "";
    if (delta["text"]) last.text += delta["text"];
    if (delta["thinking"]) last.thinking += delta["thinking"];
    if (delta["signature"]) last.signature = delta["signature"];
  }
  return blocks.map(({ json, ...block }) => (json === "" ? block : { ...block, input: JSON.parse(json) }));
}

describe("a request", () => {
  test("has its turns, images, files, results, tools and thoughts", () => {
    const ask = translation(MESSAGES, { ...BASE, messages: [{ role: "user", content: "Weather?" }] });
    const { content } = jsonOf(ask.answer(bytesOf(RESPONSE), NO_USAGE)) as { content: Block[] };
    const next = translation(MESSAGES, {
      ...BASE,
      system: "Be short.",
      messages: [
        { role: "user", content: [{ type: "text", text: "Weather?" }, IMAGE, PDF] },
        { role: "assistant", content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_a", content: "rain" },
            {
              type: "tool_result",
              tool_use_id: "call_b",
              is_error: true,
              content: [{ type: "text", text: "No." }, IMAGE],
            },
          ],
        },
      ],
    });
    const image = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGk=" };
    expect(jsonOf(next.body)).toEqual({
      model: "gpt-5",
      store: false,
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      tools: [
        {
          type: "function",
          name: "weather",
          description: "Tells it.",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      input: [
        { role: "developer", content: [{ type: "input_text", text: "Be short." }] },
        {
          role: "user",
          content: [
            { type: "input_text", text: "Weather?" },
            image,
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" },
          ],
        },
        {
          type: "reasoning",
          summary: [{ type: "summary_text", text: "First.\n\nThen." }],
          encrypted_content: "gAAAA-sealed",
        },
        { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "call_a", name: "weather", arguments: '{"city":"A"}' },
        { type: "function_call", call_id: "call_b", name: "weather", arguments: '{"city":"B"}' },
        { type: "function_call_output", call_id: "call_a", output: "rain" },
        {
          type: "function_call_output",
          call_id: "call_b",
          output: [{ type: "input_text", text: "Error: No." }, image],
        },
      ],
    });
  });

  test("of the chat format keeps its choice, schema, tier and verbosity", () => {
    const schema = { type: "object" };
    const request = {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: { type: "function", function: { name: "f" } },
      response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
      verbosity: "low",
      max_completion_tokens: 5,
      temperature: 0.2,
      stream: true,
    };
    const { body, dropped } = translation(CHAT, request);
    expect(jsonOf(body)).toMatchObject({
      tool_choice: { type: "function", name: "f" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema, strict: true } },
      max_output_tokens: 16,
      stream: true,
    });
    expect(Object.fromEntries(dropped)).toEqual({ temperature: 1 });
    expect(
      jsonOf(translation(CHAT, { ...request, verbosity: undefined }, { model: "gpt-4o" }).body),
    ).toMatchObject({
      temperature: 0.2,
    });
    expect(() => translation(CHAT, { ...request, stop: "END" })).toThrow("`stop`");
  });
});

describe("an answer", () => {
  const EXPECTED = [
    { type: "thinking", thinking: "First.\n\nThen.", signature: expect.stringMatching(/^tallygate\.1\./) },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "call_a", input: { city: "A" } },
    { type: "tool_use", id: "call_b", input: { city: "B" } },
  ];
  const ask = () => translation(MESSAGES, { ...BASE, messages: [{ role: "user", content: "Weather?" }] });

  test("is the same, whole and streamed", () => {
    const whole = jsonOf(ask().answer(bytesOf(RESPONSE), NO_USAGE)) as {
      content: Block[];
      stop_reason: string;
    };
    expect(whole).toMatchObject({ id: "resp_1", stop_reason: "tool_use", content: EXPECTED });
    const sse = relayed(MESSAGES, ask(), [new TextEncoder().encode(sseOf(EVENTS))]);
    expect(blocksIn(sse)).toMatchObject(EXPECTED);
    expect(sse).toContain('"stop_reason":"tool_use"');
    expect(sse).toContain("message_stop");
  });

  test("has its thoughts in a chat client too, which sends them back", () => {
    const request = { messages: [{ role: "user", content: "Weather?" }] };
    const answer = jsonOf(translation(CHAT, request).answer(bytesOf(RESPONSE), NO_USAGE)) as {
      choices: { message: object }[];
    };
    const messages = [
      ...request.messages,
      answer.choices[0]?.message,
      ...["call_a", "call_b"].map((tool_call_id) => ({ role: "tool", tool_call_id, content: "rain" })),
    ];
    const { input } = jsonOf(translation(CHAT, { messages }).body) as {
      input: { encrypted_content?: string }[];
    };
    expect(input[1]?.encrypted_content).toBe("gAAAA-sealed");
  });

  test.each([
    [
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      { stop_reason: "max_tokens" },
    ],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, { stop_reason: "refusal" }],
    [
      { output: [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }] },
      { stop_reason: "refusal", content: [{ text: "No." }] },
    ],
  ])("that ends as %j is %j", (members, expected) => {
    expect(jsonOf(ask().answer(bytesOf({ ...RESPONSE, output: [], ...members }), NO_USAGE))).toMatchObject(
      expected,
    );
  });

  test("that fails is an error, before and within its stream", () => {
    const error = { code: "rate_limit_exceeded", message: "Slowly." };
    const failed = { type: "response.failed", response: { ...RESPONSE, status: "failed", error } };
    for (const event of [failed, { type: "error", ...error }]) {
      const sse = relayed(MESSAGES, ask(), [new TextEncoder().encode(sseOf([...EVENTS.slice(0, 2), event]))]);
      expect(sse).toContain('"type":"rate_limit_error","message":"Slowly."');
    }
    const refusal = ask().refusal(bytesOf({ error: { ...error, type: "x" } }), {
      status: 429,
      requestId: null,
    });
    expect(jsonOf(refusal)).toMatchObject({ error: { type: "rate_limit_error", message: "Slowly." } });
  });
});
