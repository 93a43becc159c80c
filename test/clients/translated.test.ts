import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { LLMock } from "@copilotkit/aimock";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The vendors' own clients at the gateway, each at a model of the other vendor. What they make of the answer must be
// what they make of their own vendor's: asked of the same mock, which says the same in both formats.

let mock: LLMock;
let gateway: WiredGateway;
const session = newId();

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 6 });
  script(mock);
  gateway = await wiredGateway({ chat: `${mock.url}/v1`, messages: mock.url });
  await gateway.admin("PUT", "/providers/older", {
    kind: "openai-compatible",
    base_url: `${mock.url}/v1`,
    responses: false,
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/older", { surface: "chat", provider: "older", model: "gpt-4o" });
});

afterAll(async () => {
  await mock.stop();
});

const GREETING = 'Grüße, 世界 👋\n"quoted" \\ back\tslash';
const INPUT = { city: "Ærøskøbing", days: 3 };
const USAGE = {
  prompt_tokens: 21,
  completion_tokens: 8,
  total_tokens: 29,
  input_tokens: 21,
  output_tokens: 8,
};

function script(vendor: LLMock): void {
  vendor.on({ userMessage: "greet" }, { content: GREETING, usage: USAGE });
  for (const id of ["call_1_b", "toolu_1_b"]) {
    vendor.on({ toolCallId: id }, { content: "It rains for three days." });
  }
  const calls = (id: string) => [
    { name: "get_weather", arguments: JSON.stringify(INPUT), id },
    { name: "get_time", arguments: "{}", id: `${id}_b` },
  ];
  vendor.on({ userMessage: "weather", model: /^gpt/ }, { toolCalls: calls("call_1") });
  vendor.on({ userMessage: "weather", model: /^claude/ }, { toolCalls: calls("toolu_1") });
  vendor.on({ userMessage: "think" }, { content: "Yes.", reasoning: "Let me see." });
  for (const [word, status, type] of FAILURES) {
    vendor.on({ userMessage: word }, { error: { message: `the vendor says: ${word}`, type }, status });
  }
}

const FAILURES = [
  ["unauthorised", 401, "authentication_error"],
  ["missing", 404, "not_found_error"],
  ["malformed", 400, "invalid_request_error"],
  ["too many", 429, "rate_limit_error"],
  ["overloaded", 503, "overloaded_error"],
] as const;

/** A client at its own vendor, and at the gateway with the other vendor's model behind the route. */
const PLACES = ["native", "translated"] as const;
type Place = (typeof PLACES)[number];

const headers = { "x-session-id": session };
const at = (place: Place) =>
  place === "native"
    ? { apiKey: "mock", root: mock.url }
    : { apiKey: gateway.secret, root: gateway.url, defaultHeaders: headers };
const openai = (place: Place) => {
  const { root, ...rest } = at(place);
  return new OpenAI({ ...rest, baseURL: `${root}/v1`, maxRetries: 0 });
};
const anthropic = (place: Place) => {
  const { root, ...rest } = at(place);
  return new Anthropic({ ...rest, baseURL: root, maxRetries: 0 });
};
const MODELS = {
  chat: { native: "gpt-4o", translated: "claude" },
  messages: { native: "claude-opus-4-6", translated: "chat" },
} as const;

async function bothWays<T>(call: (place: Place) => Promise<T>): Promise<Record<Place, T>> {
  return { native: await call("native"), translated: await call("translated") };
}

const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
} as const;
const user = (content: string) => [{ role: "user" as const, content }];

test("under a budget, a tier that the other vendor does not have is left out, as elsewhere", async () => {
  const limits = { budget_usd: "5" };
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: newId(), limits });
  const client = new OpenAI({
    apiKey: secret,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: headers,
  });
  const call = { max_tokens: 50, messages: user("greet"), service_tier: "scale" } as const;
  const { choices } = await client.chat.completions.create({ ...call, model: "claude" });
  expect(choices[0]?.message.content).toBe(GREETING);
  const refused = await client.chat.completions.create({ ...call, model: "gpt-4o" }).catch((error) => error);
  expect(refused.status).toBe(402);
});

describe("the openai client at a model of the messages format:", () => {
  const chat = (place: Place, content: string) => ({ model: MODELS.chat[place], messages: user(content) });
  /** Ids, times and the vendor's own extras differ; what was said may not. */
  const said = ({ choices, usage }: OpenAI.ChatCompletion) => ({
    finish: choices[0]?.finish_reason,
    content: choices[0]?.message.content,
    refusal: choices[0]?.message.refusal,
    calls: choices[0]?.message.tool_calls?.map((call) => call.type === "function" && call.function),
    tokens: usage && [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
  });
  const tools = [
    { type: "function" as const, function: { name: "get_weather", parameters: PARAMETERS } },
    { type: "function" as const, function: { name: "get_time" } },
  ];

  test.each(["greet", "weather"])("the same completion (%s)", async (word) => {
    const got = await bothWays(async (place) =>
      said(await openai(place).chat.completions.create({ ...chat(place, word), tools })),
    );
    expect({ ...got.translated, tokens: [] }).toEqual({ ...got.native, tokens: [] });
    if (word === "greet") expect(got.translated).toMatchObject({ content: GREETING, tokens: [21, 8, 29] });
  });

  test.each(["greet", "weather"])(
    "the stream helper reaches the same final completion (%s)",
    async (word) => {
      const got = await bothWays(async (place) => {
        const seen: unknown[] = [];
        const stream = openai(place).chat.completions.stream({
          ...chat(place, word),
          tools,
          stream_options: { include_usage: true },
        });
        stream.on("tool_calls.function.arguments.done", ({ name, index, arguments: input }) =>
          seen.push([name, index, JSON.parse(input)]),
        );
        stream.on("content.done", ({ content }) => seen.push(content));
        const final = await stream.finalChatCompletion();
        return { seen, ...said(final), tokens: null };
      });
      expect(got.translated.seen.length).toBeGreaterThan(0);
      expect(got.translated).toEqual(got.native);
    },
  );

  test.each([false, true])("a tool's definition, call and result (streamed: %p)", async (stream) => {
    const ran: unknown[] = [];
    const runnable = tools.map((one) => ({
      ...one,
      function: {
        ...one.function,
        parameters: { ...PARAMETERS, required: [] },
        description: "A tool.",
        parse: (input: string): object => JSON.parse(input),
        function: (input: object) => {
          ran.push(input);
          return "rain";
        },
      },
    }));
    const call = { ...chat("translated", "weather"), tools: runnable };
    const { completions } = openai("translated").chat;
    const runner = stream ? completions.runTools({ ...call, stream: true }) : completions.runTools(call);
    expect(await runner.finalContent()).toBe("It rains for three days.");
    expect(ran).toEqual([INPUT, {}]);
  });

  test.each(FAILURES)("a refusal (%s) is the same class of error", async (word, status) => {
    for (const stream of [false, true]) {
      const got = await bothWays((place) =>
        failure(openai(place).chat.completions.create({ ...chat(place, word), stream })),
      );
      expect(got.translated).toEqual(got.native);
      expect(got.translated.status).toBe(status);
    }
  });
});

describe("the anthropic client at a model of the chat format:", () => {
  const message = (place: Place, content: string) => ({
    model: MODELS.messages[place],
    max_tokens: 99,
    messages: user(content),
    tools: [
      { name: "get_weather", input_schema: { ...PARAMETERS, required: ["city"] } },
      { name: "get_time", input_schema: { type: "object" as const } },
    ],
  });
  const said = ({ content, stop_reason, stop_sequence }: Anthropic.Message) => ({
    stop_reason,
    stop_sequence,
    content: content.map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "tool_use" ? [block.name, block.input] : block.type;
    }),
  });

  test.each(["greet", "weather"])("the same message (%s)", async (word) => {
    const got = await bothWays(async (place) =>
      said(await anthropic(place).messages.create(message(place, word))),
    );
    expect(got.translated).toEqual(got.native);
  });

  test.each(["greet", "weather"])("the stream helper reaches the same final message (%s)", async (word) => {
    const got = await bothWays(async (place) => {
      const order: string[] = [];
      const stream = anthropic(place).messages.stream(message(place, word));
      stream.on("streamEvent", ({ type }) => {
        if (order.at(-1) !== type) order.push(type);
      });
      const final = await stream.finalMessage();
      return { order: order.filter((type) => (type as string) !== "ping"), ...said(final) };
    });
    expect(got.translated).toEqual(got.native);
  });

  test("what it was told of tokens is what was metered", async () => {
    const final = await anthropic("translated")
      .messages.stream(message("translated", "greet"))
      .finalMessage();
    expect([final.usage.input_tokens, final.usage.output_tokens]).toEqual([21, 8]);
  });

  test.each([false, true])("a tool's definition, call and result (streamed: %p)", async (stream) => {
    const ran: unknown[] = [];
    const run = (input: unknown) => {
      ran.push(input);
      return "rain";
    };
    const tools = [
      betaTool({ name: "get_weather", description: "Weather.", inputSchema: PARAMETERS, run }),
      betaTool({ name: "get_time", description: "Time.", inputSchema: { type: "object" }, run }),
    ];
    const call = { ...message("translated", "weather"), tools };
    const { messages } = anthropic("translated").beta;
    const runner = stream ? messages.toolRunner({ ...call, stream: true }) : messages.toolRunner(call);
    const final = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage;
    expect(final.content).toMatchObject([{ type: "text", text: "It rains for three days." }]);
    expect(ran).toEqual([INPUT, {}]);
  });

  test.each(FAILURES)("a refusal (%s) is the same class of error", async (word, status) => {
    for (const stream of [false, true]) {
      const got = await bothWays((place) =>
        failure(anthropic(place).messages.create({ ...message(place, word), stream })),
      );
      expect(got.translated).toEqual(got.native);
      expect(got.translated.status).toBe(status);
    }
  });
});

/** What an application can see of a refusal, whatever the format. */
async function failure(call: PromiseLike<unknown>) {
  const error = await Promise.resolve(call).then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof OpenAI.APIError || error instanceof Anthropic.APIError)) throw error;
  const body = error.error as { message?: string; error?: { message?: string } } | undefined;
  return {
    class: error.constructor.name,
    status: error.status,
    message: body?.error?.message ?? body?.message,
  };
}

describe("the responses surface over a provider that has none:", () => {
  const tools = [
    { type: "function" as const, name: "get_weather", parameters: PARAMETERS, strict: false },
    { type: "function" as const, name: "get_time", parameters: {}, strict: false },
  ];
  const said = ({ status, output, output_text }: OpenAI.Responses.Response) => ({
    status,
    output_text,
    items: output.map((item) =>
      item.type === "function_call" ? [item.type, item.name, JSON.parse(item.arguments)] : [item.type],
    ),
  });

  test.each(["claude", "older"])("plain, streamed, with tools and their results (%s)", async (model) => {
    const { responses } = openai("translated");
    const plain = await responses.create({ model, input: "greet", store: false });
    expect(said(plain)).toMatchObject({ status: "completed", output_text: GREETING });
    const streamed = await responses.stream({ model, input: "greet" }).finalResponse();
    expect(said(streamed)).toEqual(said(plain));

    const call = { model, tools, store: false };
    const first = await responses.stream({ ...call, input: "weather" }).finalResponse();
    expect(said(first).items).toEqual([
      ["function_call", "get_weather", INPUT],
      ["function_call", "get_time", {}],
    ]);
    expect(said(await responses.create({ ...call, input: "weather" })).items).toEqual(said(first).items);
    const results = first.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "rain" }]
        : [],
    );
    const input = [{ role: "user" as const, content: "weather" }, ...first.output, ...results];
    const last = await responses.create({ ...call, input: input as OpenAI.Responses.ResponseInput });
    expect(last.output_text).toBe("It rains for three days.");
  });
});

describe("the ai sdk says the same over any format:", () => {
  const models = (): [string, LanguageModel][] => {
    const settings = { apiKey: gateway.secret, headers };
    const openAi = createOpenAI({ ...settings, baseURL: `${gateway.url}/v1` });
    const compatible = createOpenAICompatible({ ...settings, name: "gateway", baseURL: `${gateway.url}/v1` });
    const claude = createAnthropic({ ...settings, baseURL: `${gateway.url}/v1` });
    return [
      ["chat to messages", openAi.chat("claude")],
      ["chat-compatible to messages", compatible("claude")],
      ["messages to chat", claude("chat")],
      ["responses to messages", openAi.responses("claude")],
      ["responses to chat", openAi.responses("older")],
    ];
  };
  const weather = (ran: unknown[]) => ({
    get_weather: tool({
      description: "Weather.",
      inputSchema: jsonSchema<object>({ ...PARAMETERS, required: ["city"] }),
      execute: (input) => {
        ran.push(input);
        return "rain";
      },
    }),
    get_time: tool({
      inputSchema: jsonSchema<object>({ type: "object", properties: {} }),
      execute: () => "noon",
    }),
  });

  test("plain and streamed text, and tools to the end", async () => {
    for (const [name, model] of models()) {
      const plain = await generateText({ model, prompt: "greet", maxOutputTokens: 99, maxRetries: 0 });
      expect([name, plain.text, plain.finishReason]).toEqual([name, GREETING, "stop"]);
      expect([name, plain.usage.inputTokens, plain.usage.outputTokens]).toEqual([name, 21, 8]);
      const stream = streamText({ model, prompt: "greet", maxOutputTokens: 99, maxRetries: 0 });
      expect([name, await stream.text, await stream.finishReason]).toEqual([name, GREETING, "stop"]);

      const ran: unknown[] = [];
      const steps = {
        model,
        tools: weather(ran),
        prompt: "weather",
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      };
      expect([name, (await generateText(steps)).text]).toEqual([name, "It rains for three days."]);
      expect([name, await streamText(steps).text]).toEqual([name, "It rains for three days."]);
      expect([name, ran]).toEqual([name, [INPUT, INPUT]]);
    }
  });
});

test("a translated call is recorded with the provider's own counts, on the route that it named", async () => {
  const own = newId();
  const call = (path: string, body: object) =>
    fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "x-api-key": gateway.secret, "x-session-id": own, "content-type": "application/json" },
      body: JSON.stringify({ messages: user("greet"), max_tokens: 99, ...body }),
    });
  await (await call("/v1/messages", { model: "chat" })).text();
  await (await call("/v1/chat/completions", { model: "claude", stream: true })).text();
  const refused = await call("/v1/chat/completions", { model: "claude", logprobs: true });
  expect(refused.status).toBe(400);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining("`logprobs`") } });

  const records = await gateway.records(own, 3);
  const [plain, streamed, denied] = records;
  expect(plain).toMatchObject({
    route: "chat",
    provider: "chat-vendor",
    state: "ok",
    usage_source: "provider",
  });
  expect(streamed).toMatchObject({
    route: "claude",
    provider: "messages-vendor",
    state: "ok",
    streamed: true,
  });
  for (const record of [plain, streamed]) {
    expect(record).toMatchObject({ input_tokens: 21, output_tokens: 8, unpriced: false, partial: false });
    expect(Number(record?.cost_usd)).toBeGreaterThan(0);
  }
  expect(streamed?.ttft_ms).not.toBeNull();
  expect(denied).toMatchObject({
    state: "denied",
    status: 400,
    error_type: "invalid_request",
    unpriced: false,
  });
  expect(Number(denied?.cost_usd)).toBe(0);
});
