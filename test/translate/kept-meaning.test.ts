import { describe, expect, test } from "bun:test";
import { readProviderError } from "#gateway/translate/error-shapes.ts";
import { refusedWish } from "#gateway/translate/wishes.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// What a Claude has no member for, but can be asked for in its own words.

const CLAUDE = { from: "chat", to: "messages" } as const;
const user = { role: "user", content: "hi" };
const sentTo = (request: object, model = "claude-opus-4-6") => {
  const translated = translation(CLAUDE, { messages: [user], ...request }, { model });
  return { translated, sent: jsonOf(translated.body) as Record<string, unknown> };
};
const message = (content: object[], stop_reason = "tool_use") => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content,
  stop_reason,
});

describe("a JSON answer is asked of a Claude by a tool that it must call", () => {
  const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const asSchema = { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } };
  const call = { type: "tool_use", id: "toolu_1", name: "json_answer", input: { n: 42 } };

  test("any object, and its call comes as the answer's text", () => {
    const { translated, sent } = sentTo({ response_format: { type: "json_object" } });
    expect(sent).toMatchObject({
      tools: [{ name: "json_answer", input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name: "json_answer", disable_parallel_tool_use: true },
    });
    expect(jsonOf(translated.answer(bytesOf(message([call])), NO_USAGE))).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: '{"n":42}' } }],
    });
    const empty = message([{ ...call, input: {} }]);
    expect(jsonOf(translated.answer(bytesOf(empty), NO_USAGE))).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: "{}" } }],
    });
  });

  test("streamed, the text comes as the arguments come", () => {
    const { translated } = sentTo({ response_format: { type: "json_object" }, stream: true });
    const events = [
      { type: "message_start", message: message([]) },
      { type: "content_block_start", index: 0, content_block: { ...call, input: {} } },
      ...['{"n"', ":42}"].map((partial_json) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json },
      })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    ];
    const chunks = eventsIn(relayed(CLAUDE, translated, [new TextEncoder().encode(sseOf(events))]));
    const deltas = chunks.flatMap(({ data }) => (data as { choices?: { delta: object }[] }).choices ?? []);
    expect(deltas.map(({ delta }) => delta)).toMatchObject([
      {},
      { content: '{"n"' },
      { content: ":42}" },
      {},
    ]);
    expect(deltas.at(-1)).toMatchObject({ finish_reason: "stop" });
  });

  test("beside the client's own tools, it must call one of all", () => {
    const tools = [{ type: "function", function: { name: "f" } }];
    const { translated, sent } = sentTo({ tools, response_format: { type: "json_object" } });
    expect(sent).toMatchObject({
      tools: [{ name: "f" }, { name: "json_answer" }],
      tool_choice: { type: "any" },
    });
    const own = message([{ ...call, name: "f" }]);
    expect(jsonOf(translated.answer(bytesOf(own), NO_USAGE))).toMatchObject({
      choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{ function: { name: "f" } }] } }],
    });
  });

  test("a schema, at models that take none for their answer", () => {
    const older = sentTo({ response_format: asSchema }, "claude-3-5-haiku-20241022").sent;
    expect(older).toMatchObject({ tools: [{ input_schema: SCHEMA }], tool_choice: { name: "json_answer" } });
    expect(sentTo({ response_format: asSchema }).sent).toMatchObject({
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
    });
    const list = { type: "json_schema", json_schema: { name: "a", schema: { type: "array" } } };
    expect(() => sentTo({ response_format: list }, "claude-3-5-haiku-20241022")).toThrow("`response_format");
  });
});

describe("tool names that a provider refuses", () => {
  test.each(["m".repeat(90), "files.read/all"])(
    "are replaced there and restored in the answer (%s)",
    (name) => {
      for (const pair of [CLAUDE, { from: "messages", to: "chat" } as const]) {
        const request =
          pair.from === "chat"
            ? {
                messages: [
                  user,
                  {
                    role: "assistant",
                    tool_calls: [{ id: "c", type: "function", function: { name, arguments: "{}" } }],
                  },
                  { role: "tool", tool_call_id: "c", content: "x" },
                ],
                tools: [{ type: "function", function: { name } }],
                tool_choice: { type: "function", function: { name } },
              }
            : {
                max_tokens: 9,
                messages: [
                  user,
                  { role: "assistant", content: [{ type: "tool_use", id: "c", name, input: {} }] },
                  { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "x" }] },
                ],
                tools: [{ name, input_schema: { type: "object" } }],
                tool_choice: { type: "tool", name },
              };
        const translated = translation(pair, request);
        const sent = JSON.stringify(jsonOf(translated.body));
        expect(sent).not.toContain(name);
        const names = [...new Set([...sent.matchAll(/"name":"([^"]+)"/g)].map(([, found]) => found ?? ""))];
        expect(names).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)]);
        const [short] = names;
        const answer =
          pair.to === "messages"
            ? message([{ type: "tool_use", id: "t", name: short, input: {} }])
            : {
                id: "chatcmpl-1",
                choices: [
                  {
                    message: {
                      tool_calls: [{ id: "t", type: "function", function: { name: short, arguments: "{}" } }],
                    },
                    finish_reason: "tool_calls",
                  },
                ],
              };
        expect(JSON.stringify(jsonOf(translated.answer(bytesOf(answer), NO_USAGE)))).toContain(
          `"name":"${name}"`,
        );
      }
    },
  );
});

describe("reasoning is asked of a Claude only where it can answer", () => {
  const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
  const signed = [{ type: "reasoning.text", text: "hm", signature: "s" }];
  const loop = (echoed: object) => ({
    messages: [
      user,
      { role: "assistant", content: null, tool_calls: calls, ...echoed },
      { role: "tool", tool_call_id: "c", content: "x" },
    ],
    tools: [{ type: "function", function: { name: "f" } }],
    reasoning_effort: "high",
  });

  test.each(["claude-opus-4-6", "claude-sonnet-4-5"])("%s", (model) => {
    expect(sentTo(loop({ reasoning_details: signed }), model).sent).toHaveProperty("thinking");
    expect(sentTo(loop({}), model).sent).not.toHaveProperty("thinking");
    const asked = { ...loop({}), messages: [...loop({}).messages, user] };
    expect(sentTo(asked, model).sent).toHaveProperty("thinking");
    const forced = { ...asked, tool_choice: "required" };
    expect(sentTo(forced, model).sent).not.toHaveProperty("thinking");
  });

  test("and then without a temperature, which thinking does not take", () => {
    const { sent, translated } = sentTo({ reasoning_effort: "high", temperature: 0.2, max_tokens: 9_000 });
    expect(sent).not.toHaveProperty("temperature");
    expect([...translated.dropped.keys()]).toEqual(["temperature"]);
  });
});

test("cache marks of parts, tools and tool calls reach a Claude", () => {
  const cache_control = { type: "ephemeral" };
  const { sent, translated } = sentTo({
    messages: [
      { role: "user", content: [{ type: "text", text: "hi", cache_control }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" }, cache_control }],
      },
      { role: "tool", tool_call_id: "c", content: "x", cache_control },
    ],
    tools: [{ type: "function", function: { name: "f" }, cache_control }],
  });
  expect(JSON.stringify(sent).match(/cache_control/g)).toHaveLength(4);
  expect(translated.dropped.size).toBe(0);
});

test("white space that Anthropic refuses is left out and counted", () => {
  const translated = translation(
    { from: "chat", to: "messages" },
    {
      stop: ["\n", "END"],
      messages: [
        { role: "system", content: " " },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "\n",
          tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "a", content: " " },
      ],
    },
  );
  const sent = jsonOf(translated.body) as { system?: object; messages: object[]; stop_sequences: string[] };
  expect(sent.stop_sequences).toEqual(["END"]);
  expect(sent.system).toBeUndefined();
  expect(sent.messages.slice(1)).toMatchObject([
    { content: [{ type: "tool_use" }] },
    { content: [{ type: "tool_result", tool_use_id: "a" }] },
  ]);
  expect(Object.fromEntries(translated.dropped)).toEqual({ stop: 1 });
});

test("an answer that the client began is continued by models that do so", () => {
  const request = {
    reasoning_effort: "high",
    messages: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "It rains " },
    ],
  };
  const sent = jsonOf(
    translation({ from: "chat", to: "messages" }, request, { model: "claude-sonnet-4-5" }).body,
  );
  expect(sent).toMatchObject({
    messages: [{}, { role: "assistant", content: [{ type: "text", text: "It rains" }] }],
  });
  expect(sent).not.toHaveProperty("thinking");
});

test("an error in place of an answer keeps its status and its sentence", () => {
  const error = { code: 429, message: "Rate limited upstream." };
  const translated = translation(
    { from: "messages", to: "chat" },
    {
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    },
  );
  const fault = translated.fault(bytesOf({ error, user_id: "u" }));
  expect([fault?.status, jsonOf(fault?.body ?? null)]).toEqual([
    429,
    { type: "error", error: { type: "rate_limit_error", message: "Rate limited upstream." } },
  ]);
  expect(translated.fault(bytesOf({ choices: [] }))).toBeNull();
});

describe("what agents write for themselves, or twice, is left out:", () => {
  test("a mark that Copilot CLI puts into messages", () => {
    const { translated, sent } = sentTo({ messages: [{ ...user, __copilotMessageSource: "user" }] });
    expect([sent["messages"], [...translated.dropped]]).toEqual([
      [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      [["messages.__copilotMessageSource", 1]],
    ]);
  });

  test("results that Gemini CLI repeats in a session that it resumes", () => {
    const call = { functionCall: { id: "c1", name: "weather", args: {} } };
    const result = { functionResponse: { id: "c1", name: "weather", response: { output: "rain" } } };
    const contents = [
      { role: "user", parts: [{ text: "Weather?" }] },
      { role: "model", parts: [call] },
      { role: "user", parts: [result, result] },
    ];
    const { body } = translation({ from: "gemini", to: "messages" }, { contents });
    expect((jsonOf(body) as { messages: { content: object[] }[] }).messages[2]?.content).toHaveLength(1);
  });
});

test.each([
  [
    { reasoning_effort: "high" },
    "Unrecognized request argument supplied: reasoning_effort",
    "reasoning_effort",
  ],
  [{ reasoning_effort: "high" }, '"llama3" does not support thinking', "reasoning_effort"],
  [{ reasoning_effort: "low" }, "`reasoning_effort` is not supported with this model", "reasoning_effort"],
  [
    { reasoning_effort: "max" },
    "Unsupported value: 'reasoning_effort' does not support 'max' with this model.",
    "reasoning_effort=max",
  ],
  [
    { reasoning: { summary: "auto" } },
    "Your organization must be verified to generate reasoning summaries.",
    "reasoning.summary",
  ],
  [{ temperature: 0 }, "`temperature` is deprecated for this model.", "temperature"],
  [{ temperature: 3 }, "temperature must be between 0 and 2", null],
  [{ thinking: {} }, "Thinking may not be enabled when tool_choice forces tool use.", null],
  [{ messages: [] }, "`temperature` is deprecated for this model.", null],
])("of %j a vendor that says %p refuses %p", (body, text, wish) => {
  expect(refusedWish(body, text)).toBe(wish);
});

/** Each vendor's sentence for an answer that may not be this long, and the limit that it names. Ollama refuses no length. */
const TOO_LONG = [
  [
    "OpenAI, Azure",
    "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
    16_384,
  ],
  [
    "OpenAI's responses",
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
    16_384,
  ],
  [
    "with separators",
    "max_tokens is too large: 32,000. This model supports at most 16,384 completion tokens.",
    16_384,
  ],
  [
    "Anthropic",
    "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
    8_192,
  ],
  [
    "Bedrock",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    4_096,
  ],
  [
    "Google",
    "Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
    8_192,
  ],
  ["Mistral", "body.max_tokens: Input should be less than or equal to 16384", 16_384],
  [
    "Groq",
    "`max_completion_tokens` must be less than or equal to `8192`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model",
    8_192,
  ],
  ["Groq, by model", "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000", 8_000],
  ["DeepSeek", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192],
  ["Alibaba", "Range of max_tokens should be [1, 8192]", 8_192],
  [
    "Anthropic, both",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
    null,
  ],
  [
    "OpenAI, both",
    "This model's maximum context length is 16385 tokens. However, you requested 32100 tokens (100 in the messages, 32000 in the completion).",
    null,
  ],
  [
    "vLLM, both",
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 30000 tokens and your request has 2500 input tokens (32000 > 30000 - 2500).",
    null,
  ],
  [
    "a server, both",
    "Input validation error: `inputs` tokens + `max_tokens` must be <= 16384. Given: 100 `inputs` tokens and 32000 `max_tokens`",
    null,
  ],
  [
    "Google, at the limit",
    "Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 32000 (exclusive).",
    31_999,
  ],
  [
    "Mistral, both",
    "Prompt contains 30000 tokens and 0 draft tokens, too large for model with 16384 maximum context length",
    null,
  ],
  ["thinking", "`max_tokens` must be greater than `thinking.budget_tokens`: 31000", null],
  ["a date, an id", "max_tokens is invalid for model-2024-10-22, see request req_16384", null],
  ["a rate", "Requested max_tokens 32000: limit of 8000 tokens per minute, on 2026-11-28", null],
  ["nothing lower", "max_tokens: 32000 > 64000, which is the maximum allowed number of output tokens", null],
] as const;

test.each(TOO_LONG)("the limit of answers that %s names", (_vendor, said, limit) => {
  for (const body of [
    { max_tokens: 32_000 },
    { max_completion_tokens: 32_000 },
    { max_output_tokens: 32_000 },
    { generationConfig: { maxOutputTokens: 32_000 } },
  ]) {
    const [first = "", inner] = Object.entries(body)[0] ?? [];
    const path = typeof inner === "object" ? `${first}.maxOutputTokens` : first;
    expect(refusedWish(body, said)).toBe(limit === null ? null : `${path}>${limit}`);
  }
});

test("Mistral's faults of members are read as a sentence", () => {
  const detail = [
    {
      type: "less_than_equal",
      loc: ["body", "max_tokens"],
      msg: "Input should be less than or equal to 16384",
    },
  ];
  const { message } = readProviderError({
    object: "error",
    message: { detail },
    type: "invalid_request_error",
  });
  expect(message).toBe("body.max_tokens: Input should be less than or equal to 16384");
});
