import { beforeAll, describe, expect, test } from "bun:test";
import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import OpenAI, { AzureOpenAI } from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { frameOfEvent } from "#gateway/upstream/hosted/event-stream.ts";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The clouds' own clients, unmodified: the gateway as their endpoint, a client key as their key.

let gateway: WiredGateway;
let claude: ScriptedUpstream;

beforeAll(async () => {
  claude = await scriptedUpstream(({ body }, reply) => {
    const asked = JSON.parse(body);
    if (asked.max_tokens === 1) return reply.json(REFUSAL, 400);
    if (!asked.stream) return reply.json(ANSWER);
    reply.head("text/event-stream");
    reply.chunk(`event: ping\ndata: {"type":"ping"}\n\n`);
    const events = asked.max_tokens === 2 ? [...EVENTS.slice(0, 3), OVERLOADED] : EVENTS;
    for (const event of events) reply.chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    reply.end();
  });
  gateway = await wiredGateway({ chat: "http://127.0.0.1:1/v1", messages: claude.url });
  await gateway.admin("PUT", "/routes/words", { surface: "embeddings", provider: "echo", model: "echo" });
});

const HELLO = [{ role: "user" as const, content: "Hello" }];

describe("AzureOpenAI", () => {
  const azure = (session: string, more: object = {}) =>
    new AzureOpenAI({
      endpoint: gateway.url,
      apiKey: gateway.secret,
      apiVersion: "2024-10-21",
      maxRetries: 0,
      defaultHeaders: { "x-session-id": session },
      ...more,
    });

  test("calls a deployment, plain and streamed, which is the model whatever the body names", async () => {
    const session = newId();
    const plain = await azure(session).chat.completions.create({ model: "echo", messages: HELLO });
    expect(plain.choices[0]?.message.content).toBe("Hello");
    const stream = await azure(session, { deployment: "echo" }).chat.completions.create({
      model: "gpt-4o",
      messages: HELLO,
      stream: true,
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello");
    const words = await azure(session).embeddings.create({ model: "words", input: "Hello" });
    expect(words.data).toHaveLength(1);
    const response = await azure(session).responses.create({ model: "echo", input: "Hello" });
    expect(response.output_text).toBe("Hello");
    const records = await gateway.records(session, 4);
    expect(records.map(({ model, streamed, state }) => [model, streamed, state])).toEqual([
      ["echo", false, "ok"],
      ["echo", true, "ok"],
      ["echo", false, "ok"],
      ["echo", false, "ok"],
    ]);
  });

  test("a form that names another model than its deployment is refused", async () => {
    const file = new File(["sound"], "a.mp3");
    const form = { model: "whisper-1", file };
    const call = azure(newId(), { deployment: "echo" }).audio.transcriptions.create(form);
    expect(await call.catch((error) => [error.status, error.message])).toEqual([
      400,
      expect.stringContaining("deployment"),
    ]);
  });

  test("its files, batches, kept responses and models are below `/openai`, with the version of the API", async () => {
    const dated = azure(newId());
    expect((await dated.files.list()).data).toEqual([]);
    expect((await dated.batches.list({ limit: 5 })).data).toEqual([]);
    expect((await dated.models.list()).data.map(({ id }) => id)).toContain("words");
    expect((await dated.models.retrieve("echo")).owned_by).toBe("echo");
    const line = {
      ...{ custom_id: "1", method: "POST", url: "/chat/completions" },
      body: { model: "gpt-4o", messages: HELLO },
    };
    const file = new File([`${JSON.stringify(line)}\n`], "lines.jsonl");
    const refused = await dated.files.create({ file, purpose: "batch" }).catch(({ status }) => status);
    const statuses = [
      dated.files.retrieve("file-none"),
      dated.batches.retrieve("batch_none"),
      dated.responses.retrieve("resp_1"),
    ].map((asked) => asked.then(String, ({ status }) => String(status)));
    // The vendor that would keep them is away.
    expect([refused, await Promise.all(statuses)]).toEqual([502, ["404", "404", "502"]]);
  });

  test("Azure's v1 API has models, files, batches and kept responses, and needs a key", async () => {
    const v1 = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: gateway.secret, maxRetries: 0 });
    expect((await v1.chat.completions.create({ model: "echo", messages: HELLO })).model).toBe("echo");
    expect((await v1.models.list()).data.map(({ id }) => id)).toContain("words");
    expect((await v1.files.list()).data).toEqual([]);
    expect((await v1.batches.list()).data).toEqual([]);
    // The vendor that would keep it is away.
    expect(await v1.responses.retrieve("resp_1").catch(({ status }) => status)).toBe(502);
    const refused = azure(newId(), { apiKey: "wrong" }).chat.completions.create({
      model: "echo",
      messages: HELLO,
    });
    expect(await refused.catch(({ status }) => status)).toBe(401);
  });
});

const USAGE = { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 4 };
const REFUSAL = { type: "error", error: { type: "invalid_request_error", message: "max_tokens is too low" } };
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const THOUGHT = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
const CALL = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern", code: 3 } };
const ANSWER = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-opus-4-6", usage: USAGE },
  content: [THOUGHT, { type: "text", text: "Let me see." }, CALL],
  stop_reason: "tool_use",
};
const EVENTS = [
  { type: "message_start", message: { ...ANSWER, content: [], usage: { ...USAGE, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let me see." } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { ...CALL, input: {} } },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"city":"Bern"}' },
  },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];

test.each(["dated", "v1"])("responses over a WebSocket are at Azure's addresses, too: %s", async (form) => {
  const session = newId();
  const options = { apiKey: gateway.secret, defaultHeaders: { "x-session-id": session } };
  const client =
    form === "dated"
      ? new AzureOpenAI({ ...options, endpoint: gateway.url, apiVersion: "2025-03-01-preview" })
      : new OpenAI({ ...options, baseURL: `${gateway.url}/openai/v1` });
  const socket = new ResponsesWS(client, { headers: { "x-session-id": session } });
  const ended = Promise.withResolvers<string>();
  socket.on("response.completed", ({ response }) => ended.resolve(response.output_text));
  socket.on("error", ended.reject);
  socket.send({ type: "response.create", model: "echo", input: "Hello", store: false });
  await ended.promise;
  socket.close();
  expect(await gateway.records(session)).toMatchObject([{ model: "echo", state: "ok", streamed: true }]);
});

describe("Bedrock's SDK with an API key", () => {
  const client = (session: string, token = gateway.secret, more: BedrockRuntimeClientConfig = {}) => {
    const made = new BedrockRuntimeClient({
      region: "us-east-1",
      endpoint: gateway.url,
      token: { token },
      authSchemePreference: ["httpBearerAuth"],
      ...more,
      maxAttempts: 1,
      // Its own default is HTTP/2, which AWS alone serves without an upgrade.
      requestHandler: new NodeHttpHandler(),
    });
    made.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers["x-session-id"] = session;
        return next(args);
      },
      { step: "build" },
    );
    return made;
  };
  const CLAUDE = { anthropic_version: "bedrock-2023-05-31", max_tokens: 256, messages: HELLO };
  const invocation = (more: object = {}) => ({
    modelId: "claude",
    body: JSON.stringify({ ...CLAUDE, ...more }),
  });

  test("invoke reaches a Claude model of any provider, and the answer is Anthropic's", async () => {
    const session = newId();
    const body = { anthropic_beta: ["context-1m", "tools"], model: "other" };
    const { body: answer } = await client(session).send(new InvokeModelCommand(invocation(body)));
    expect(JSON.parse(new TextDecoder().decode(answer))).toEqual(ANSWER);
    const sent = claude.seen.at(-1);
    expect(JSON.parse(sent?.body ?? "")).toEqual({
      max_tokens: 256,
      messages: HELLO,
      model: "claude-opus-4-6",
    });
    expect(sent?.headers["anthropic-beta"]).toBe("context-1m,tools");
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ route: "claude", state: "ok", input_tokens: 14, output_tokens: 7 });
  });

  test("a stream has Anthropic's events in chunks, and its counts in the last", async () => {
    const session = newId();
    const { body = [] } = await client(session).send(new InvokeModelWithResponseStreamCommand(invocation()));
    const events = [];
    for await (const { chunk } of body) events.push(JSON.parse(new TextDecoder().decode(chunk?.bytes)));
    const { "amazon-bedrock-invocationMetrics": metrics, ...last } = events.at(-1);
    expect([...events.slice(0, -1), last]).toEqual(EVENTS);
    expect(metrics).toMatchObject({ inputTokenCount: 10, outputTokenCount: 7, cacheReadInputTokenCount: 4 });
    expect(await gateway.records(session)).toMatchObject([{ streamed: true, output_tokens: 7, state: "ok" }]);
  });

  const TURNS: ConverseCommandInput = {
    modelId: "claude",
    system: [{ text: "Be brief." }, { cachePoint: { type: "default" } }],
    messages: [
      { role: "user", content: [{ text: "Weather?" }, image()] },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
          { toolUse: { toolUseId: "toolu_0", name: "weather", input: { city: "Rome" } } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "toolu_0", content: [{ json: { rain: 1 } }], status: "error" } },
        ],
      },
    ],
    inferenceConfig: { maxTokens: 300, stopSequences: ["END"] },
    toolConfig: {
      tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }],
      toolChoice: { any: {} },
    },
    additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 100 } },
  };
  function image() {
    return { image: { format: "png" as const, source: { bytes: new Uint8Array([1, 2, 3]) } } };
  }

  test("converse keeps every part of the conversation and of the answer", async () => {
    const session = newId();
    const answer = await client(session).send(new ConverseCommand(TURNS));
    expect(JSON.parse(claude.seen.at(-1)?.body ?? "")).toEqual({
      model: "claude-opus-4-6",
      thinking: { type: "enabled", budget_tokens: 100 },
      max_tokens: 300,
      stop_sequences: ["END"],
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Weather?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
          ],
        },
        {
          role: "assistant",
          content: [THOUGHT, { type: "tool_use", id: "toolu_0", name: "weather", input: { city: "Rome" } }],
        },
        {
          role: "user",
          content: [
            {
              ...{ type: "tool_result", tool_use_id: "toolu_0", is_error: true },
              content: [{ type: "text", text: '{"rain":1}' }],
            },
          ],
        },
      ],
      tools: [{ name: "weather", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
    });
    expect(answer.output?.message?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { text: "Let me see." },
      { toolUse: { toolUseId: "toolu_1", name: "weather", input: CALL.input } },
    ]);
    expect(answer.stopReason).toBe("tool_use");
    expect(answer.usage).toMatchObject({ inputTokens: 10, outputTokens: 7, totalTokens: 21 });
    expect(await gateway.records(session)).toMatchObject([{ state: "ok", input_tokens: 14 }]);
  });

  test("converse-stream has the same in events, and an error inside it is an exception", async () => {
    const { stream = [] } = await client(newId()).send(new ConverseStreamCommand(TURNS));
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { delta: { text: "Let me see." }, contentBlockIndex: 0 } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      {
        contentBlockStart: {
          start: { toolUse: { toolUseId: "toolu_1", name: "weather" } },
          contentBlockIndex: 1,
        },
      },
      { contentBlockDelta: { delta: { toolUse: { input: '{"city":"Bern"}' } }, contentBlockIndex: 1 } },
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: "tool_use" } },
      { metadata: { usage: { inputTokens: 10, outputTokens: 7, totalTokens: 21 } } },
    ]);
    const broken = { ...TURNS, inferenceConfig: { maxTokens: 2 } };
    const { stream: other = [] } = await client(newId()).send(new ConverseStreamCommand(broken));
    const drained = Array.fromAsync(other).catch(({ name, message }) => [name, message]);
    expect(await drained).toEqual(["ServiceUnavailableException", "Overloaded"]);
  });

  test("converse reaches a model of another vendor", async () => {
    const messages = [{ role: "user" as const, content: [{ text: "Hello" }] }];
    const answer = await client(newId()).send(new ConverseCommand({ modelId: "echo", messages }));
    expect(answer.output?.message?.content).toEqual([{ text: "Hello" }]);
  });

  describe("at a provider of Bedrock's,", () => {
    const NOVA = "us.amazon.nova-pro-v1:0";
    const LLAMA = "meta.llama3-70b-instruct-v1:0";
    const chunk = (payload: object) =>
      frameOfEvent(
        { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
        Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(payload)).toString("base64") })),
      );
    const counts = { inputTokenCount: 30, outputTokenCount: 4, cacheReadInputTokenCount: 6 };
    const COUNTED = {
      "x-amzn-bedrock-input-token-count": "30",
      "x-amzn-bedrock-output-token-count": "4",
      "x-amzn-bedrock-cache-read-input-token-count": "6",
    };
    const NOVA_EVENTS = [
      { contentBlockDelta: { delta: { text: "Hello" }, contentBlockIndex: 0 } },
      { metadata: {}, "amazon-bedrock-invocationMetrics": counts },
    ];
    let key: { id: string; secret: string };
    let aws: ScriptedUpstream;

    beforeAll(async () => {
      aws = await scriptedUpstream(({ path, body }, reply) => {
        if (path.endsWith("/invoke-with-response-stream")) {
          reply.head("application/vnd.amazon.eventstream");
          for (const event of NOVA_EVENTS) reply.chunk(chunk(event));
          return reply.end();
        }
        if (path.endsWith("/converse"))
          return reply.json({
            output: { message: { role: "assistant", content: [{ text: "Hello" }] } },
            ...{
              stopReason: "end_turn",
              usage: { inputTokens: 30, outputTokens: 4, cacheReadInputTokens: 6 },
            },
          });
        if (path.includes("titan-embed")) {
          const { inputText, dimensions = 2, ...more } = JSON.parse(body);
          if (Object.keys(more).length > 0 || dimensions > 4)
            return reply.json({ message: "Malformed input." }, 400);
          const embedding = [0.25, -0.5, 0.5, 0.125].slice(0, dimensions);
          return reply.json({ embedding, inputTextTokenCount: inputText.length }, 200);
        }
        return reply.json({ generation: `to ${body}` }, 200, path.includes("titan") ? {} : COUNTED);
      });
      await gateway.admin("PUT", "/providers/aws", {
        ...{ kind: "bedrock", base_url: aws.url, credential: "api-key-of-bedrock" },
        ...{ allow_private_network: true, pass_through: { paths: ["/model/*"] } },
        models: ["*.nova-*", "meta.*", "amazon.titan-*"],
      });
      await gateway.admin("PUT", "/routes/nova", { surface: "chat", provider: "aws", model: NOVA });
      for (const model of [NOVA, LLAMA]) {
        const price = { input: "10", output: "20", cached_input: "1" };
        await gateway.admin("POST", "/prices", { model, effective_from: "2020-01-01", ...price });
      }
      const scopes = { providers: ["aws"], models: [NOVA, LLAMA, "amazon.titan-x"] };
      key = await gateway.admin("POST", "/keys", { name: "aws", scopes });
    });
    const own = (session: string, plain = false) =>
      plain ? client(session) : client(session, key.secret, { endpoint: `${gateway.url}/providers/aws` });
    const PLACES = [
      ["its own address", false],
      ["the plain one", true],
    ] as const;
    // 30 at 10, 6 at 1 and 4 at 20 dollars a million.
    const PRICED = { ...{ input_tokens: 36, output_tokens: 4, unpriced: false }, cost_usd: "0.000386" };

    test.each(PLACES)(
      "at %s, any vendor's body passes, and Bedrock's headers say the tokens",
      async (_, plain) => {
        const session = newId();
        const body = JSON.stringify({ prompt: "Hello", max_gen_len: 64 });
        const answer = await own(session, plain).send(new InvokeModelCommand({ modelId: LLAMA, body }));
        expect(JSON.parse(new TextDecoder().decode(answer.body))).toEqual({ generation: `to ${body}` });
        expect(aws.seen.at(-1)).toMatchObject({
          ...{ body, path: `/model/${encodeURIComponent(LLAMA)}/invoke` },
          headers: { authorization: "Bearer api-key-of-bedrock" },
        });
        expect(await gateway.records(session)).toMatchObject([{ model: LLAMA, state: "ok", ...PRICED }]);
      },
    );

    test.each(PLACES)("at %s, a stream passes, and its last chunk says the tokens", async (_, plain) => {
      const session = newId();
      const body = JSON.stringify({ messages: [{ role: "user", content: [{ text: "Hello" }] }] });
      const asked = new InvokeModelWithResponseStreamCommand({ modelId: NOVA, body });
      const { body: events = [] } = await own(session, plain).send(asked);
      const told = [];
      for await (const event of events) told.push(JSON.parse(new TextDecoder().decode(event.chunk?.bytes)));
      expect(told).toEqual(NOVA_EVENTS);
      expect(await gateway.records(session)).toMatchObject([{ streamed: true, state: "ok", ...PRICED }]);
    });

    const messages = [{ role: "user" as const, content: [{ text: "Hello" }] }];

    test.each(PLACES)(
      "at %s, converse is metered by its usage, and what says no tokens is unpriced",
      async (_, plain) => {
        const session = newId();
        await own(session, plain).send(new ConverseCommand({ modelId: NOVA, messages }));
        expect(aws.seen.at(-1)?.path).toBe(`/model/${encodeURIComponent(NOVA)}/converse`);
        expect(await gateway.records(session)).toMatchObject([PRICED]);
        const silent = newId();
        await own(silent, plain).send(new InvokeModelCommand({ modelId: "amazon.titan-x", body: "{}" }));
        expect(await gateway.records(silent)).toMatchObject([{ cost_usd: null, unpriced: true }]);
      },
    );

    test("a route of such a model takes its bodies, at the plain address", async () => {
      const session = newId();
      const asked = new InvokeModelCommand({ modelId: "nova", body: JSON.stringify({ messages }) });
      const { body } = await own(session, true).send(asked);
      expect(new TextDecoder().decode(body)).toContain("Hello");
      expect(await gateway.records(session)).toMatchObject([{ route: "nova", model: NOVA, ...PRICED }]);
    });

    test("guardrails read any vendor's body, and a budget bounds its answer", async () => {
      const rule = { match: { pattern: "launch code" }, mode: "enforce", action: "block" };
      await gateway.admin("PUT", "/guardrails/codes", rule);
      const asked = (body: object, session: string, token = gateway.secret) =>
        client(session, token)
          .send(new InvokeModelCommand({ modelId: LLAMA, body: JSON.stringify(body) }))
          .then(
            () => 200,
            ({ $metadata }) => $metadata.httpStatusCode,
          );
      expect(await asked({ prompt: "the launch code" }, newId())).toBe(403);
      await gateway.admin("DELETE", "/guardrails/codes");
      const limits = { budget_usd: "0.01" };
      const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: newId(), limits });
      const prompt = "Hello";
      expect(await asked({ prompt, max_gen_len: 100 }, newId(), secret)).toBe(200);
      expect(await asked({ prompt, max_gen_len: 1_000_000 }, newId(), secret)).toBe(402);
    });

    test("OpenAI's client gets embeddings of Titan, one text a call, at the list's price", async () => {
      const session = newId();
      const model = "amazon.titan-embed-text-v1";
      await gateway.admin("PUT", "/routes/titan", { surface: "embeddings", provider: "aws", model });
      const openai = new OpenAI({
        ...{ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 },
        defaultHeaders: { "x-session-id": session },
      });
      const base64 = await openai.embeddings.create({ model: "titan", input: "Hello" });
      expect(base64).toMatchObject({
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }],
        model,
        usage: { prompt_tokens: 5, total_tokens: 5 },
      });
      const floats = await openai.embeddings.create({
        ...{ model, input: ["Hello"], dimensions: 3, encoding_format: "float", user: "ada" },
      });
      expect(floats.data[0]?.embedding).toEqual([0.25, -0.5, 0.5]);
      expect(aws.seen.slice(-2).map(({ path, body }) => [path, body])).toEqual([
        [`/model/${model}/invoke`, '{"inputText":"Hello"}'],
        [`/model/${model}/invoke`, '{"inputText":"Hello","dimensions":3}'],
      ]);
      const record = { surface: "embeddings", model, input_tokens: 5, cost_usd: "0.0000005" };
      expect(await gateway.records(session, 2)).toMatchObject([record, record]);
      const sent = aws.seen.length;
      for (const [asked, sentence] of [
        [{ model, input: ["Hello", "you"] }, "one text"],
        [{ model, input: [1, 2] }, "one text"],
        [{ model, input: "Hello", encoding_format: "binary" }, "encoding_format"],
        [{ model: LLAMA, input: "Hello" }, "titan-embed-text"],
      ] as const) {
        const fault = await openai.embeddings.create(asked as never).catch((error) => error);
        expect([fault.status, fault.message]).toEqual([400, expect.stringContaining(sentence)]);
      }
      expect(aws.seen).toHaveLength(sent);
      const fault = await openai.embeddings
        .create({ model, input: "Hello", dimensions: 5 })
        .catch((error) => error);
      expect([fault.status, fault.message]).toEqual([400, "400 Malformed input."]);
    });

    test("a model out of scope is refused", async () => {
      const other = new ConverseCommand({ modelId: "meta.other-v1:0", messages });
      expect(
        await own(newId())
          .send(other)
          .catch(({ $metadata }) => $metadata.httpStatusCode),
      ).toBe(403);
    });
  });

  test("the key is taken from AWS_BEARER_TOKEN_BEDROCK, and a call signed with AWS keys is told of it", async () => {
    const asked = new ConverseCommand({
      modelId: "echo",
      messages: [{ role: "user", content: [{ text: "Hi" }] }],
    });
    const common = { region: "us-east-1", endpoint: gateway.url, requestHandler: new NodeHttpHandler() };
    process.env["AWS_BEARER_TOKEN_BEDROCK"] = gateway.secret;
    const { output } = await new BedrockRuntimeClient(common).send(asked).finally(() => {
      delete process.env["AWS_BEARER_TOKEN_BEDROCK"];
    });
    expect(output?.message?.content).toEqual([{ text: "Hi" }]);
    const credentials = { accessKeyId: "AKIAEXAMPLEEXAMPLE00", secretAccessKey: "secret" };
    const signed = new BedrockRuntimeClient({ ...common, credentials, maxAttempts: 1 }).send(asked);
    expect(await signed.catch(({ message }) => message)).toContain("AWS_BEARER_TOKEN_BEDROCK");
  });

  test("refusals are AWS's exceptions with the sentence", async () => {
    const of = (sent: Promise<unknown>) =>
      sent.then(
        () => null,
        ({ name, message, $metadata }) => [name, $metadata.httpStatusCode, message],
      );
    const messages = [{ role: "user" as const, content: [{ text: "Hello" }] }];
    const low = { modelId: "claude", messages, inferenceConfig: { maxTokens: 1 } };
    expect(await of(client(newId()).send(new ConverseCommand(low)))).toEqual([
      "ValidationException",
      400,
      "max_tokens is too low",
    ]);
    const guarded = { ...low, guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1" } };
    expect(await of(client(newId()).send(new ConverseCommand(guarded)))).toEqual([
      "ValidationException",
      400,
      expect.stringContaining("guardrailConfig"),
    ]);
    const llama = new InvokeModelCommand({ modelId: "claude", body: '{"prompt":"Hello"}' });
    expect(await of(client(newId()).send(llama))).toEqual([
      "ValidationException",
      400,
      expect.stringContaining("converse"),
    ]);
    expect(await of(client(newId(), "wrong").send(new ConverseCommand(low)))).toEqual([
      "AccessDeniedException",
      401,
      expect.any(String),
    ]);
    const missing = new ConverseCommand({ modelId: "us.nobody.model-v1:0", messages });
    expect(await of(client(newId()).send(missing))).toEqual([
      "ResourceNotFoundException",
      404,
      expect.any(String),
    ]);
  });
});
