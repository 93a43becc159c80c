import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { newId } from "#shared/ids.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The vendors' own clients, once at a mock of the vendors that nobody here wrote, once at the gateway before it: whoever
// calls must not be able to tell the two apart.

let mock: LLMock;
let gateway: WiredGateway;
const clients: Record<"direct" | "gateway", { openai: OpenAI; anthropic: Anthropic }> = Object.create(null);
/** Of the calls through the gateway, to find their records by. */
const session = newId();

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 6 });
  script(mock);
  gateway = await wiredGateway({ chat: `${mock.url}/v1`, messages: mock.url });
  clients.direct = {
    openai: new OpenAI({ apiKey: "mock", baseURL: `${mock.url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "mock", baseURL: mock.url, maxRetries: 0 }),
  };
  clients.gateway = atGateway(gateway.secret);
});

afterAll(async () => {
  await mock.stop();
});

function atGateway(apiKey: string, maxRetries = 0, fetching: typeof fetch = fetch) {
  const defaultHeaders = { "x-session-id": session };
  const common = { apiKey, maxRetries, defaultHeaders, fetch: fetching };
  return {
    openai: new OpenAI({ ...common, baseURL: `${gateway.url}/v1` }),
    anthropic: new Anthropic({ ...common, baseURL: gateway.url }),
  };
}

const created = 1_700_000_000;
const CHAT_USAGE = { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 };
const MESSAGES_USAGE = { input_tokens: 17, output_tokens: 9 };

/** Fixed ids and times, so that two answers to one question are the same. */
function script(vendor: LLMock): void {
  const greeting = { content: 'Grüße, 世界 👋\n"quoted" \\ back\tslash', created };
  vendor.on({ userMessage: "greet", model: /^gpt/ }, { ...greeting, id: "chatcmpl-1", usage: CHAT_USAGE });
  vendor.on({ userMessage: "greet", model: /^claude/ }, { ...greeting, id: "msg_1", usage: MESSAGES_USAGE });
  const arguments_ = JSON.stringify({ city: "Ærøskøbing", days: 3 });
  for (const model of [/^gpt/, /^claude/]) {
    const id = String(model).includes("gpt") ? "call_1" : "toolu_1";
    vendor.on({ toolCallId: id, model }, { content: "It rains for three days.", id: `after-${id}`, created });
    vendor.on(
      { userMessage: "weather", model },
      { toolCalls: [{ name: "get_weather", arguments: arguments_, id }], id: `before-${id}`, created },
    );
  }
  vendor.on(
    { userMessage: "think", model: /^claude/ },
    { content: "Yes.", reasoning: "Let me see.", id: "msg_t" },
  );
  vendor.on({ userMessage: "as json" }, { content: '{"answer":42}', id: "chatcmpl-j", created });
  const failures = [
    ["unauthorised", 401, "authentication_error"],
    ["forbidden", 403, "permission_error"],
    ["missing", 404, "not_found_error"],
    ["malformed", 400, "invalid_request_error"],
    ["too many", 429, "rate_limit_error"],
    ["failing", 500, "api_error"],
    ["overloaded", 503, "overloaded_error"],
  ] as const;
  for (const [word, status, type] of failures) {
    const error = { message: `the vendor says: ${word}`, type, code: `code_${status}` };
    vendor.on({ userMessage: word }, { error, status, retryAfter: 7 });
  }
}

type Clients = (typeof clients)["direct"];

/** What both clients make of the same call, as plain data. */
async function bothWays<T>(call: (clients: Clients) => Promise<T>): Promise<{ direct: T; gateway: T }> {
  return { direct: await call(clients.direct), gateway: await call(clients.gateway) };
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  return await Array.fromAsync(stream);
}

const user = (content: string) => [{ role: "user" as const, content }];
const chat = (content: string) => ({ model: "gpt-4o", messages: user(content) });
const message = (content: string) => ({
  model: "claude-opus-4-6",
  max_tokens: 99,
  messages: user(content),
});

const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
} as const;
const CHAT_TOOL = { type: "function" as const, function: { name: "get_weather", parameters: PARAMETERS } };
const MESSAGES_TOOL = { name: "get_weather", input_schema: { ...PARAMETERS, required: ["city"] } };

describe("the openai client gets the same through the gateway as from the vendor:", () => {
  test("a plain answer", async () => {
    const got = await bothWays(({ openai }) => openai.chat.completions.create(chat("greet")));
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.usage).toMatchObject(CHAT_USAGE);
  });

  test("every chunk of a stream, without the usage chunk that only the gateway asked for", async () => {
    const got = await bothWays(async ({ openai }) =>
      collect(await openai.chat.completions.create({ ...chat("greet"), stream: true })),
    );
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.some(({ usage }) => usage)).toBe(false);
  });

  test("every chunk of a stream, with the usage chunk that it asked for", async () => {
    const got = await bothWays(async ({ openai }) =>
      collect(
        await openai.chat.completions.create({
          ...chat("greet"),
          stream: true,
          stream_options: { include_usage: true },
        }),
      ),
    );
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.at(-1)?.usage).toMatchObject(CHAT_USAGE);
  });

  test("the stream helper's events in their order, and its final completion", async () => {
    const got = await bothWays(async ({ openai }) => {
      const said: unknown[] = [];
      const stream = openai.chat.completions.stream(chat("greet"));
      stream.on("content", (delta, snapshot) => said.push([delta, snapshot]));
      return { said, final: await stream.finalChatCompletion() };
    });
    expect(got.gateway.said.length).toBeGreaterThan(2);
    expect(got.gateway).toEqual(got.direct);
  });

  test.each([false, true])("a tool's definition, call and result (streamed: %p)", async (stream) => {
    const got = await bothWays(async ({ openai }) => {
      const ran: unknown[] = [];
      const tool: RunnableToolFunctionWithParse<object> = {
        type: "function",
        function: {
          name: "get_weather",
          parameters: { ...PARAMETERS, required: ["city"] },
          parse: (input) => JSON.parse(input),
          function: (input) => {
            ran.push(input);
            return "rain";
          },
          description: "Tells the weather.",
        },
      };
      const call = { ...chat("weather"), tools: [tool] };
      const runner = stream
        ? openai.chat.completions.runTools({ ...call, stream: true })
        : openai.chat.completions.runTools(call);
      const content = await runner.finalContent();
      return { ran, content, messages: runner.messages };
    });
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.ran).toEqual([{ city: "Ærøskøbing", days: 3 }]);
    expect(got.gateway.content).toBe("It rains for three days.");
  });

  test("a parsed answer of a JSON schema", async () => {
    const schema = {
      type: "object",
      properties: { answer: { type: "integer" } },
      additionalProperties: false,
    };
    const got = await bothWays(({ openai }) =>
      openai.chat.completions.parse({
        ...chat("as json"),
        response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } },
      }),
    );
    expect(got.gateway).toEqual(got.direct);
  });

  test("streamed tool calls, chunk by chunk", async () => {
    const got = await bothWays(async ({ openai }) =>
      collect(await openai.chat.completions.create({ ...chat("weather"), stream: true, tools: [CHAT_TOOL] })),
    );
    expect(got.gateway).toEqual(got.direct);
  });
});

describe("the anthropic client gets the same through the gateway as from the vendor:", () => {
  test("a plain answer", async () => {
    const got = await bothWays(({ anthropic }) => anthropic.messages.create(message("greet")));
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.usage).toMatchObject(MESSAGES_USAGE);
  });

  test.each(["greet", "weather", "think"])("every event of a stream (%s)", async (word) => {
    const got = await bothWays(async ({ anthropic }) =>
      collect(
        await anthropic.messages.create({ ...message(word), stream: true, tools: [MESSAGES_TOOL as never] }),
      ),
    );
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.at(-1)?.type).toBe("message_stop");
  });

  test("the stream helper's events in their order, and its final message", async () => {
    const got = await bothWays(async ({ anthropic }) => {
      const said: unknown[] = [];
      const stream = anthropic.messages.stream(message("greet"));
      stream.on("text", (delta, snapshot) => said.push([delta, snapshot]));
      return { said, final: await stream.finalMessage() };
    });
    expect(got.gateway.said.length).toBeGreaterThan(2);
    expect(got.gateway).toEqual(got.direct);
  });

  test.each([false, true])("a tool's definition, call and result (streamed: %p)", async (stream) => {
    const got = await bothWays(async ({ anthropic }) => {
      const ran: unknown[] = [];
      const tool = betaTool({
        name: "get_weather",
        description: "Tells the weather.",
        inputSchema: PARAMETERS,
        run: (input) => {
          ran.push(input);
          return "rain";
        },
      });
      const call = { ...message("weather"), tools: [tool] };
      const runner = stream
        ? anthropic.beta.messages.toolRunner({ ...call, stream: true })
        : anthropic.beta.messages.toolRunner(call);
      return { ran, final: await runner.runUntilDone() };
    });
    expect(got.gateway).toEqual(got.direct);
    expect(got.gateway.ran).toEqual([{ city: "Ærøskøbing", days: 3 }]);
  });
});

/** What an application can see of a refusal. */
async function refusal(call: PromiseLike<unknown>) {
  const error = await Promise.resolve(call).then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof OpenAI.APIError || error instanceof Anthropic.APIError)) throw error;
  const kept = [...(error.headers ?? [])].filter(([name]) => /^(retry-after|x-ratelimit-)/.test(name));
  return {
    class: error.constructor.name,
    status: error.status,
    message: error.message,
    error: error.error,
    headers: kept,
  };
}

const VENDOR_FAILURES = [
  "unauthorised",
  "forbidden",
  "missing",
  "malformed",
  "too many",
  "failing",
  "overloaded",
];

describe("a vendor's refusal reaches the client as the vendor wrote it:", () => {
  test.each(VENDOR_FAILURES)("openai, %s", async (word) => {
    for (const stream of [false, true]) {
      const got = await bothWays(({ openai }) =>
        refusal(openai.chat.completions.create({ ...chat(word), stream })),
      );
      expect(got.gateway).toEqual(got.direct);
    }
  });

  test.each(VENDOR_FAILURES)("anthropic, %s", async (word) => {
    for (const stream of [false, true]) {
      const got = await bothWays(({ anthropic }) =>
        refusal(anthropic.messages.create({ ...message(word), stream })),
      );
      expect(got.gateway).toEqual(got.direct);
    }
  });
});

describe("the gateway's own refusal is one that the vendors' clients understand:", () => {
  type Case = {
    name: string;
    key: () => string | Promise<string>;
    models: [chat: string, messages: string];
    status: number;
    kind: string;
  };
  const scoped = async () =>
    (
      await gateway.admin<{ secret: string }>("POST", "/keys", {
        name: newId(),
        scopes: { routes: ["chat", "claude"], models: ["nothing"] },
      })
    ).secret;
  const CASES: Case[] = [
    {
      name: "an unknown key",
      key: () => `tg_${"0".repeat(43)}`,
      models: ["chat", "claude"],
      status: 401,
      kind: "AuthenticationError",
    },
    {
      name: "a model out of scope",
      key: scoped,
      models: ["chat", "claude"],
      status: 403,
      kind: "PermissionDeniedError",
    },
    {
      name: "an unknown model",
      key: () => gateway.secret,
      models: ["no-such", "no-such"],
      status: 404,
      kind: "NotFoundError",
    },
  ];

  test.each(CASES)(
    "$name is final and sent once",
    async ({ key, models: [chatModel, messagesModel], status, kind }) => {
      let sent = 0;
      const counting = Object.assign(
        (...call: Parameters<typeof fetch>) => {
          sent += 1;
          return fetch(...call);
        },
        { preconnect: fetch.preconnect },
      );
      const { openai, anthropic } = atGateway(await key(), 2, counting);
      const chatRefusal = await refusal(
        openai.chat.completions.create({ ...chat("greet"), model: chatModel }),
      );
      const messagesRefusal = await refusal(
        anthropic.messages.create({ ...message("greet"), model: messagesModel }),
      );
      expect(chatRefusal).toMatchObject({ class: kind, status });
      expect(messagesRefusal).toMatchObject({ class: kind, status, error: { type: "error" } });
      expect(sent).toBe(2);
    },
  );

  test("each client lists the routes as its vendor's models", async () => {
    const names = async (list: AsyncIterable<{ id: string }>) => (await collect(list)).map(({ id }) => id);
    const { openai, anthropic } = clients.gateway;
    const fromOpenai = await names(openai.models.list());
    expect(fromOpenai).toContain("chat");
    expect(await names(anthropic.models.list())).toEqual(fromOpenai);
    expect(await names(anthropic.models.list({ limit: 1 }))).toEqual(fromOpenai);
  });
});

describe("streamed bytes", () => {
  const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const bytesOf = async (base: string, path: string, key: string, body: object): Promise<Uint8Array> => {
    const answer = await fetch(base + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${key}`,
        "anthropic-version": "2023-06-01",
        "x-session-id": session,
      },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return await answer.bytes();
  };
  const through = (path: string, body: object) => bytesOf(gateway.url, path, gateway.secret, body);
  const direct = (path: string, body: object) => bytesOf(mock.url, path, "mock", body);

  test.each([
    ["/v1/chat/completions", { ...chat("greet"), stream: true, stream_options: { include_usage: true } }],
    ["/v1/chat/completions", chat("greet")],
    ["/v1/messages", { ...message("greet"), stream: true }],
    ["/v1/messages", { ...message("weather"), stream: true }],
    ["/v1/messages", message("greet")],
  ])("are the vendor's, by their SHA-256: %s %j", async (path, body) => {
    expect(sha256(await through(path, body))).toBe(sha256(await direct(path, body)));
  });

  test("are the vendor's but for the one usage chunk, where the gateway asked for that", async () => {
    const body = { ...chat("greet"), stream: true };
    const asked = await direct("/v1/chat/completions", { ...body, stream_options: { include_usage: true } });
    const text = new TextDecoder().decode(asked);
    const usageChunk = /data: [^\n]*"choices":\[\],"usage":[^\n]*\n\n/;
    expect(text).toMatch(usageChunk);
    const expected = new TextEncoder().encode(text.replace(usageChunk, ""));
    expect(sha256(await through("/v1/chat/completions", body))).toBe(sha256(expected));
  });
});

describe("what the vendor saw and what was recorded", () => {
  test("of all these calls no header of the clients' own telemetry and no gateway header reached the vendor", async () => {
    await gateway.records(session, 20);
    const seen = mock.getRequests().filter(({ headers }) => headers["accept-encoding"] === "identity");
    expect(seen.length).toBeGreaterThan(20);
    const names = new Set(seen.flatMap(({ headers }) => Object.keys(headers)));
    // The mock adds the first to its journal itself; the second is the vendor's credential.
    const gateways = [...names].filter((name) => name.startsWith("x-")).sort();
    expect(gateways).toEqual(["x-api-key", "x-request-id"]);
  });

  test("the counts in the records are the ones that the answers told", async () => {
    const rows = await gateway.records(session, 20);
    const answered = rows.filter(({ state }) => state === "ok");
    const counts = answered.map((row) => [
      row.provider,
      row.input_tokens,
      row.output_tokens,
      row.usage_source,
    ]);
    expect(counts).toContainEqual(["chat-vendor", 21, 8, "provider"]);
    expect(counts).toContainEqual(["messages-vendor", 17, 9, "provider"]);
    expect(answered.filter(({ usage_source }) => usage_source !== "provider")).toEqual([]);
    expect(rows.filter(({ state, status }) => (state === "ok") !== (status === 200))).toEqual([]);
    expect(gateway.log()).not.toContain(VENDOR_CREDENTIAL);
  });
});
