import { describe, expect, test } from "bun:test";
import type { MessageCreateParams } from "@anthropic-ai/sdk/resources";
import type { Pair } from "#gateway/translate/translate.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { refusalByClaude } from "#test/support/claude-refusals.ts";
import { refusalByOpenAi } from "#test/support/openai-refusals.ts";
import { refusalByGemini } from "#test/support/strict-gemini.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Requests that the client's own vendor takes, and that the provider takes only in another form.

type Sent = Record<string, unknown>;
const REFUSALS: Record<Pair["to"], (sent: Sent) => string | null> = {
  chat: (sent) => refusalByOpenAi(sent, "chat"),
  responses: (sent) => refusalByOpenAi(sent, "responses"),
  messages: (sent) => refusalByClaude(sent as unknown as MessageCreateParams, new Map()),
  gemini: (sent) => refusalByGemini(sent as never, { signed: new Map(), seen: [] }),
};

const user = { role: "user", content: "Weather?" };
const ask = { max_tokens: 100, messages: [user] };
const marked = (text: string) => ({ type: "text", text, cache_control: { type: "ephemeral" } });
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
const result = (tool_use_id: string, content: unknown) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id, content }],
});
const calls = (...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "f", input: {} })),
});
const chatCalls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "null" } })),
});
const toolMessage = (tool_call_id: string, content: string) => ({ role: "tool", tool_call_id, content });
const tool = (input_schema: object, more: object = {}) => ({
  ...ask,
  tools: [{ name: "f", input_schema, ...more }],
});
const OPTIONAL = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};
const CLOSED = { ...OPTIONAL, required: ["a", "b"] };
const LONG = "x".repeat(70);

type Case = [string, Pair["from"], object, Pair["to"][], object];
const CASES: Case[] = [
  ["a tool without properties", "messages", tool({ type: "object" }), ["chat", "responses"], {}],
  [
    "lists of anything",
    "messages",
    tool({ type: "object", properties: { a: { anyOf: [{ type: "array" }, { type: "null" }] } } }),
    ["chat", "responses", "gemini"],
    {},
  ],
  [
    "a strict tool with an optional argument",
    "messages",
    tool(OPTIONAL, { strict: true }),
    ["chat", "responses"],
    {},
  ],
  [
    "a strict tool without one",
    "messages",
    tool(CLOSED, { strict: true }),
    ["responses"],
    { tools: [{ strict: true, parameters: CLOSED }] },
  ],
  [
    "an answer by a schema with an optional member",
    "messages",
    { ...ask, output_config: { format: { type: "json_schema", schema: OPTIONAL } } },
    ["chat", "responses"],
    {},
  ],
  [
    "JSON that the prompt does not speak of",
    "gemini",
    {
      contents: [{ role: "user", parts: [{ text: "Colours?" }] }],
      generationConfig: { responseMimeType: "application/json" },
    },
    ["chat", "responses", "messages"],
    {},
  ],
  ["a long name of a person", "messages", { ...ask, metadata: { user_id: LONG } }, ["chat", "responses"], {}],
  [
    "a long id of a call",
    "messages",
    { ...ask, messages: [user, calls(LONG), result(LONG, "rain")] },
    ["chat", "responses"],
    {},
  ],
  [
    "results with pictures in messages of their own",
    "messages",
    { ...ask, messages: [user, calls("a", "b"), result("a", [IMAGE]), result("b", "rain")] },
    ["chat", "responses", "gemini"],
    {},
  ],
  [
    "instructions alone",
    "chat",
    { messages: [{ role: "system", content: "Say hi." }] },
    ["messages", "gemini"],
    {},
  ],
  [
    "an assistant that speaks first",
    "chat",
    { messages: [{ role: "assistant", content: "How can I help?" }, user] },
    ["messages", "gemini"],
    {},
  ],
  [
    "an assistant that speaks first, after an empty question",
    "chat",
    { messages: [{ role: "user", content: " " }, chatCalls("a"), toolMessage("a", "rain"), user] },
    ["messages", "gemini"],
    {},
  ],
  [
    "calls that begin a shortened conversation",
    "chat",
    { messages: [chatCalls("a"), toolMessage("a", "rain"), user] },
    ["messages", "gemini", "responses"],
    {},
  ],
  [
    "parallel calls of one id, with their results in order",
    "chat",
    { messages: [user, chatCalls("a", "a"), toolMessage("a", "one"), toolMessage("a", "two")] },
    ["messages"],
    {
      messages: [
        {},
        { content: [{ id: "a" }, { id: "a_2" }] },
        {
          content: [
            { tool_use_id: "a", content: [{ text: "one" }] },
            { tool_use_id: "a_2", content: [{ text: "two" }] },
          ],
        },
      ],
    },
  ],
  [
    "calls without ids, as Google's compatible address has them",
    "chat",
    { messages: [user, chatCalls("", ""), toolMessage("", "one"), toolMessage("", "two")] },
    ["messages", "gemini"],
    {},
  ],
  [
    "an id that comes again, after a call that no one answered",
    "chat",
    {
      messages: [
        user,
        chatCalls("a", "b"),
        toolMessage("a", "1"),
        toolMessage("b", "2"),
        user,
        chatCalls("a"),
        toolMessage("a", "3"),
      ],
    },
    ["messages", "gemini"],
    {},
  ],
  [
    "arguments that are null",
    "chat",
    { messages: [user, chatCalls("a"), toolMessage("a", "rain")] },
    ["messages"],
    { messages: [{}, { content: [{ input: expect.not.objectContaining({ arguments: "null" }) }] }, {}] },
  ],
  [
    "more than four cache marks",
    "chat",
    {
      messages: [
        { role: "system", content: [marked("s")] },
        { role: "user", content: "abcde".split("").map(marked) },
      ],
    },
    ["messages"],
    {},
  ],
  ["empty instructions", "messages", { ...ask, system: "" }, ["gemini", "chat", "responses"], {}],
  [
    "a tool whose name begins with a digit",
    "messages",
    { ...ask, tools: [{ name: "2fa_code", input_schema: { type: "object" } }] },
    ["gemini"],
    {},
  ],
  [
    "an empty answer to continue",
    "messages",
    { ...ask, messages: [user, { role: "assistant", content: " " }] },
    ["chat", "responses", "gemini"],
    {},
  ],
  [
    "a source that the client found, and examples of a tool's arguments",
    "messages",
    {
      ...tool({ type: "object" }, { input_examples: [{ a: 1 }] }),
      messages: [
        {
          role: "user",
          content: [
            {
              type: "search_result",
              source: "https://a.example",
              title: "A",
              content: [{ type: "text", text: "Rain." }],
              citations: { enabled: true },
            },
          ],
        },
      ],
    },
    ["chat", "responses", "gemini"],
    {},
  ],
  [
    "sound",
    "chat",
    {
      messages: [
        { role: "user", content: [{ type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } }] },
      ],
    },
    ["gemini"],
    { contents: [{ parts: [{ inlineData: { mimeType: "audio/mp3", data: "aGk=" } }] }] },
  ],
  [
    "Google's sound",
    "gemini",
    { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "audio/mpeg", data: "aGk=" } }] }] },
    ["chat"],
    { messages: [{ content: [{ type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } }] }] },
  ],
  [
    "a temperature beside top_p",
    "chat",
    { messages: [user], temperature: 0.5, top_p: 0.5 },
    ["messages"],
    { temperature: 0.5 },
  ],
  [
    "calls in the history of a request without tools",
    "chat",
    {
      messages: [
        user,
        { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: "rain" },
      ],
    },
    ["messages"],
    { tools: [{ name: "f" }], tool_choice: { type: "none" } },
  ],
  [
    "ids of calls that come again",
    "chat",
    {
      messages: [0, 1].flatMap((turn) => [
        user,
        {
          role: "assistant",
          tool_calls: ["f", "g"].map((name, index) => ({
            id: `functions.${index}`,
            function: { name: `${name}${turn}`, arguments: "{}" },
          })),
        },
        { role: "tool", tool_call_id: "functions.0", content: `f${turn}` },
        { role: "tool", tool_call_id: "functions.1", content: `g${turn}` },
      ]),
    },
    ["messages", "gemini"],
    {},
  ],
  [
    "a wish not to think",
    "messages",
    { ...ask, thinking: { type: "disabled" } },
    ["responses"],
    { reasoning: { effort: "none" } },
  ],
  [
    "the same",
    "messages",
    { ...ask, thinking: { type: "disabled" } },
    ["gemini"],
    { generationConfig: { thinkingConfig: { thinkingLevel: "low" } } },
  ],
  [
    "the same of Google's",
    "gemini",
    {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
    },
    ["responses"],
    { reasoning: { effort: "none" } },
  ],
  [
    "an empty result",
    "messages",
    { ...ask, messages: [user, calls("a"), result("a", "")] },
    ["gemini"],
    { contents: [{}, {}, { parts: [{ functionResponse: { response: { output: "" } } }] }] },
  ],
  [
    "an empty answer in between",
    "messages",
    { ...ask, messages: [user, { role: "assistant", content: "" }, user] },
    ["chat"],
    { messages: [user, user] },
  ],
  [
    "Mistral's thoughts",
    "chat",
    {
      messages: [
        user,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
            { type: "text", text: "Hi." },
          ],
        },
        user,
      ],
    },
    ["messages", "gemini", "responses"],
    {},
  ],
  [
    "an effort beside a low limit of output",
    "chat",
    { messages: [user], reasoning_effort: "high", max_tokens: 500 },
    ["messages"],
    {},
  ],
  [
    "a schema by the name of the betas",
    "messages",
    { ...ask, output_format: { type: "json_schema", schema: CLOSED } },
    ["chat"],
    { response_format: { json_schema: { schema: CLOSED, strict: true } } },
  ],
  [
    "a wish for short answers",
    "responses",
    { input: "Hi", text: { verbosity: "low" } },
    ["messages", "gemini"],
    {},
  ],
  [
    "what OpenAI alone takes, where chat completions are reached by responses",
    "chat",
    { messages: [user], service_tier: "flex", prompt_cache_key: "k", metadata: { a: "b" } },
    ["responses"],
    { service_tier: "flex", prompt_cache_key: "k", metadata: { a: "b" } },
  ],
];

const CLAUDES = ["claude-opus-4-6", "claude-sonnet-4-5", "claude-3-5-haiku-20241022"];

test.each(
  CASES.flatMap(([name, from, request, targets, expected]) =>
    targets.map((to) => [name, { from, to }, request, expected] as const),
  ),
)("%s (%j)", (_name, pair, request, expected) => {
  for (const model of pair.to === "messages" ? CLAUDES : [undefined]) {
    const sent = jsonOf(translation(pair, request, model ? { model } : {}).body) as Sent;
    expect([REFUSALS[pair.to](sent), sent]).toMatchObject([null, expected]);
  }
});

test("a thought of another vendor's alone leaves no empty message", () => {
  const thought = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const messages = [user, { role: "assistant", content: [thought] }, user];
  const sent = jsonOf(translation({ from: "messages", to: "chat" }, { ...ask, messages }).body) as Sent;
  expect(sent["messages"]).toEqual([user, user]);
});

test("Mistral's ids of calls have nine characters", () => {
  const messages = [user, calls("toolu_1", "toolu_2"), result("toolu_1", "a"), result("toolu_2", "b")];
  const { body } = translation({ from: "messages", to: "chat" }, { ...ask, messages }, { kind: "mistral" });
  const ids = [...JSON.stringify(jsonOf(body)).matchAll(/"(?:id|tool_call_id)":"(\w+)"/g)].map(
    ([, id]) => id,
  );
  expect(ids).toEqual([...new Set(ids), ...new Set(ids)]);
  expect(ids.every((id) => id?.length === 9)).toBe(true);
});

test("Google's schemas keep what may be null, and what they refer to", () => {
  const parameters = {
    type: "OBJECT",
    properties: {
      unit: { type: "STRING", enum: ["C", "F"], nullable: true },
      at: { anyOf: [{ type: "STRING" }, { ref: "#/defs/Place" }], nullable: true },
    },
    defs: { Place: { type: "OBJECT" } },
  };
  const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
  const tools = [{ functionDeclarations: [{ name: "f", parameters }] }];
  const { body } = translation({ from: "gemini", to: "chat" }, { contents, tools });
  expect((jsonOf(body) as { tools: { function: object }[] }).tools[0]?.function).toMatchObject({
    parameters: {
      properties: {
        unit: { type: ["string", "null"], enum: ["C", "F", null] },
        at: { anyOf: [{ type: "string" }, { $ref: "#/$defs/Place" }, { type: "null" }] },
      },
      $defs: { Place: { type: "object" } },
    },
  });
});

describe("the end of an answer", () => {
  const MESSAGES = { from: "messages", to: "chat" } as const;
  const streamed = (pair: Pair, events: (object | string)[], request: object = ask) =>
    eventsIn(relayed(pair, translation(pair, request), [new TextEncoder().encode(sseOf(events))]));
  const chunk = (delta: object) => ({ id: "c", model: "m", choices: [{ index: 0, delta }] });

  test("that has no reason but is marked is complete", () => {
    const events = streamed(MESSAGES, [chunk({ content: "Hi" }), "[DONE]"]);
    expect(events.slice(-2)).toMatchObject([
      { data: { delta: { stop_reason: "end_turn" } } },
      { event: "message_stop" },
    ]);
  });

  test("by an error in one sentence is an error", () => {
    const events = streamed(MESSAGES, [chunk({ content: "Hi" }), { error: "model crashed" }]);
    expect(events.at(-1)).toMatchObject({ event: "error", data: { error: { message: "model crashed" } } });
  });

  test("before its beginning is an event that OpenAI's client takes", () => {
    const events = streamed({ from: "responses", to: "chat" }, [{ error: { message: "No.", code: 429 } }], {
      input: "Hi",
    });
    expect(events.map(({ event }) => event)).toEqual([
      "response.created",
      "response.in_progress",
      "response.failed",
    ]);
  });

  test("that holds all of it is not lost", () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: "Hi" }] }];
    const events = streamed({ from: "messages", to: "responses" }, [
      { type: "response.created", response: { id: "r", output: [] } },
      { type: "response.completed", response: { id: "r", status: "completed", output } },
    ]);
    expect(events.map(({ data }) => (data as { delta?: { text?: string } }).delta?.text)).toContain("Hi");
  });

  test("by a call that Gemini could not write is an error, not silence", () => {
    const pair = { from: "messages", to: "gemini" } as const;
    const broken = {
      responseId: "r",
      candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "print(f())" }],
    };
    expect(streamed(pair, [broken]).at(-1)).toMatchObject({
      event: "error",
      data: { error: { type: "api_error", message: expect.stringContaining("MALFORMED_FUNCTION_CALL") } },
    });
    const translated = translation(pair, ask);
    expect(translated.answer(bytesOf(broken), NO_USAGE)).toBeNull();
    expect(translated.fault(bytesOf(broken))?.status).toBe(500);
  });
});

test.each([
  [{ detail: [{ loc: ["body", "foo"], msg: "Extra inputs" }] }, "body.foo: Extra inputs"],
  [{ detail: "Not authenticated" }, "Not authenticated"],
  [{ errors: [{ message: "One." }, { message: "Two." }] }, "One.; Two."],
  [
    { error: { message: "Provider returned error", metadata: { raw: "No tools." } } },
    "Provider returned error: No tools.",
  ],
  [{ object: "error", message: "No." }, "No."],
])("a refusal such as %j keeps its sentence", (body, message) => {
  const { refusal } = translation({ from: "messages", to: "chat" }, ask);
  expect(jsonOf(refusal(bytesOf(body), { status: 400, requestId: null }))).toMatchObject({
    error: { message },
  });
});
