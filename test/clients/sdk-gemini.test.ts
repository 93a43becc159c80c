import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  ApiError,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  Type,
} from "@google/genai";
import { newId } from "#shared/ids.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Google's own client at the gateway, with a provider that answers in Google's own words.

const MODEL = "gemini-2.5-flash";
const USAGE = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 50,
  thoughtsTokenCount: 150,
  toolUsePromptTokenCount: 10,
  totalTokenCount: 1210,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 1000 }],
};

let google: ScriptedUpstream;
let gateway: WiredGateway;
let play: (request: SeenRequest, reply: Reply) => void;

beforeAll(async () => {
  google = await scriptedUpstream((request, reply) => play(request, reply));
  gateway = await wiredGateway({ chat: `${google.url}/v1`, messages: google.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${google.url}/v1beta/openai`,
    credential: VENDOR_CREDENTIAL,
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/flash", { surface: "chat", provider: "google", model: MODEL });
  await gateway.admin("PUT", "/routes/vectors", {
    surface: "embeddings",
    provider: "google",
    model: "gemini-embedding-001",
  });
});
beforeEach(() => {
  google.seen.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await google.close();
});

const client = (session: string, apiKey = gateway.secret) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, headers: { "x-session-id": session } } });

const turn = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
  modelVersion: MODEL,
  responseId: "resp-of-google",
});
const ended = { finishReason: "STOP" };
const event = (data: object) => `data: ${JSON.stringify(data)}\r\n\r\n`;

const RECORD = {
  state: "ok",
  status: 200,
  provider: "google",
  model: MODEL,
  provider_request_id: "resp-of-google",
  client: "google-genai",
  usage_source: "provider",
  input_tokens: 1010,
  output_tokens: 200,
  // 610 tokens of input, 400 from the cache, 200 of output.
  cost_usd: "0.000695",
};

describe("a call in Google's format", () => {
  test("is forwarded byte for byte, with the provider's own key, and metered", async () => {
    const session = newId();
    play = (_, reply) => reply.json({ ...turn("It rains.", ended), usageMetadata: USAGE });
    const answer = await client(session).models.generateContent({
      model: "flash",
      contents: "Weather?",
      config: { systemInstruction: "Be brief.", temperature: 0.1, thinkingConfig: { thinkingBudget: 8 } },
    });
    expect([answer.text, answer.usageMetadata?.thoughtsTokenCount]).toEqual(["It rains.", 150]);
    const [seen] = google.seen;
    expect(seen?.path).toBe(`/v1beta/models/${MODEL}:generateContent`);
    expect(seen?.headers["x-goog-api-key"]).toBe(VENDOR_CREDENTIAL);
    expect(JSON.stringify(seen)).not.toContain(gateway.secret);
    expect(JSON.parse(seen?.body ?? "")).toEqual({
      contents: [{ parts: [{ text: "Weather?" }], role: "user" }],
      systemInstruction: { parts: [{ text: "Be brief." }], role: "user" },
      generationConfig: { temperature: 0.1, thinkingConfig: { thinkingBudget: 8 } },
    });
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ ...RECORD, route: "flash", streamed: false });
  });

  test("streams, and ends where Google ends it", async () => {
    const session = newId();
    play = (_, reply) => {
      reply.head("text/event-stream");
      reply.chunk(
        event({ ...turn("It "), usageMetadata: { promptTokenCount: 1000, totalTokenCount: 1000 } }),
      );
      reply.chunk(
        event({ ...turn("rains."), usageMetadata: { promptTokenCount: 1000, totalTokenCount: 1020 } }),
      );
      reply.chunk(event({ ...turn("", ended), usageMetadata: USAGE }));
      reply.end();
    };
    const stream = await client(session).models.generateContentStream({ model: MODEL, contents: "Weather?" });
    expect(await textOf(stream)).toBe("It rains.");
    expect(google.seen[0]?.path).toBe(`/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ ...RECORD, streamed: true });
    expect(record?.ttft_ms).not.toBeNull();
  });

  test("that breaks off is recorded with the counts so far", async () => {
    const session = newId();
    play = (_, reply) => {
      reply.head("text/event-stream");
      reply.chunk(event({ ...turn("It "), usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } }));
      reply.chunk(event({ ...turn("rains."), usageMetadata: { promptTokenCount: 7, totalTokenCount: 9 } }));
      reply.end();
    };
    const stream = await client(session).models.generateContentStream({ model: MODEL, contents: "Weather?" });
    await textOf(stream);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({
      state: "upstream_broken",
      usage_source: "partial",
      input_tokens: 7,
      output_tokens: 2,
    });
  });

  test("streams a JSON array to whoever asks for no events", async () => {
    play = (_, reply) => {
      reply.head("text/event-stream");
      reply.chunk(event(turn("It ")));
      reply.chunk(event({ ...turn("rains.", ended), usageMetadata: USAGE }));
      reply.end();
    };
    const answer = await post(`${MODEL}:streamGenerateContent`, { contents: [] });
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(await answer.json()).toEqual([turn("It "), { ...turn("rains.", ended), usageMetadata: USAGE }]);
    expect(google.seen[0]?.path).toEndWith(":streamGenerateContent?alt=sse");
  });

  test("carries functions both ways, signatures included", async () => {
    const call = { functionCall: { name: "weather", args: { city: "Bern" } }, thoughtSignature: "c2lnbmVk" };
    play = ({ body }, reply) => {
      const answered = body.includes("functionResponse");
      const parts = answered ? [{ text: "Rain in Bern." }] : [call];
      reply.json({
        ...turn("", ended),
        candidates: [{ content: { role: "model", parts }, index: 0, ...ended }],
        usageMetadata: USAGE,
      });
    };
    const session = newId();
    const parameters = { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] };
    const chat = client(session).chats.create({
      model: "flash",
      config: {
        tools: [{ functionDeclarations: [{ name: "weather", parameters }] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      },
    });
    const first = await chat.sendMessage({ message: "Weather in Bern?" });
    expect(first.functionCalls).toEqual([{ name: "weather", args: { city: "Bern" } }]);
    const functionResponse = { name: "weather", response: { output: "rain" } };
    const second = await chat.sendMessage({ message: [{ functionResponse }] });
    expect(second.text).toBe("Rain in Bern.");
    const { contents } = JSON.parse(google.seen[1]?.body ?? "");
    expect(contents[1].parts).toEqual([call]);
    expect(contents[2].parts).toEqual([{ functionResponse }]);
    expect(await gateway.records(session, 2)).toHaveLength(2);
  });

  test("counts tokens without a record, and embeds with one", async () => {
    const session = newId();
    play = ({ path }, reply) =>
      path.endsWith(":countTokens")
        ? reply.json({ totalTokens: 3 })
        : reply.json({ embeddings: [{ values: [0.5, 0.25] }], usageMetadata: { promptTokenCount: 3 } });
    const it = client(session);
    expect((await it.models.countTokens({ model: "flash", contents: "x" })).totalTokens).toBe(3);
    const { embeddings } = await it.models.embedContent({ model: "vectors", contents: "x" });
    expect(embeddings?.[0]?.values).toEqual([0.5, 0.25]);
    const [, seen] = google.seen;
    expect(seen?.path).toBe("/v1beta/models/gemini-embedding-001:batchEmbedContents");
    // The body repeats the model, which must be the path's.
    expect(JSON.parse(seen?.body ?? "").requests[0].model).toBe("models/gemini-embedding-001");
    const [record, more] = await gateway.records(session);
    expect(more).toBeUndefined();
    expect(record).toMatchObject({ route: "vectors", input_tokens: 3, output_tokens: 0, state: "ok" });
  });
});

describe("the gateway answers Google's client itself", () => {
  test("with its routes as models", async () => {
    const names: (string | undefined)[] = [];
    for await (const { name } of await client(newId()).models.list({ config: { pageSize: 2 } }))
      names.push(name);
    expect(names).toContain("models/flash");
    expect(new Set(names).size).toBe(names.length);
    const one = await client(newId()).models.get({ model: "flash" });
    expect([one.name, one.supportedActions]).toEqual([
      "models/flash",
      ["generateContent", "streamGenerateContent", "countTokens"],
    ]);
  });

  test("with errors in Google's shape", async () => {
    const wrongKey = client(newId(), `tg_${"x".repeat(43)}`).models.generateContent({
      model: "flash",
      contents: "x",
    });
    expect(await refusalOf(wrongKey)).toMatchObject({ code: 401, status: "UNAUTHENTICATED" });
    const noModel = client(newId()).models.generateContent({ model: "no-such", contents: "x" });
    expect(await refusalOf(noModel)).toMatchObject({
      code: 404,
      status: "NOT_FOUND",
      details: [{ reason: "MODEL_NOT_FOUND" }, {}],
    });
  });

  test("as the built-in provider, plain and streamed", async () => {
    const { models } = client(newId());
    const request = { model: "echo", contents: "Hello there", config: { systemInstruction: "Be brief." } };
    const whole = await models.generateContent(request);
    expect([whole.text, whole.usageMetadata?.promptTokenCount]).toEqual(["Hello there", 6]);
    expect(await textOf(await models.generateContentStream(request))).toBe("Hello there");
    expect((await models.countTokens({ model: "echo", contents: "Hello there" })).totalTokens).toBe(3);
    expect(google.seen).toEqual([]);
  });

  test("with a soft denial that reads as an answer", async () => {
    await gateway.admin("PUT", "/guardrails/soft", {
      match: { pattern: "forbidden" },
      action: "soft_deny",
      message: "Not here.",
    });
    const { models } = client(newId());
    const request = { model: "flash", contents: "something forbidden" };
    const whole = await models.generateContent(request);
    expect([whole.text, whole.candidates?.[0]?.finishReason as string]).toEqual(["Not here.", "STOP"]);
    expect(await textOf(await models.generateContentStream(request))).toBe("Not here.");
    await gateway.admin("DELETE", "/guardrails/soft");
  });
});

test("every version of Google's API is served", async () => {
  for (const version of ["v1", "v1beta", "v1alpha"]) {
    const httpOptions = { baseUrl: gateway.url, apiVersion: version };
    const { models } = new GoogleGenAI({ apiKey: gateway.secret, httpOptions });
    expect((await models.generateContent({ model: "echo", contents: "Hello" })).text).toBe("Hello");
  }
});

describe("what is refused", () => {
  test("a key in the address, valid or not", async () => {
    const answer = await fetch(`${gateway.url}/v1beta/models?key=${gateway.secret}`);
    const { error } = await answer.json();
    expect([answer.status, error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain("x-goog-api-key");
    expect(error.message).not.toContain(gateway.secret);
    expect((await post(`${MODEL}:generateContent?key=x`, { contents: [] })).status).toBe(400);
    expect(google.seen).toEqual([]);
  });

  test.each([
    '{"contents":[],"Contents":[]}',
    '{"contents":[],"contents":[]}',
    '{"toolConfig":{},"tool_config":{}}',
    '{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}}',
    '{"requests":[{"model":"models/a","model":"models/b"}]}',
    '{"systemInstruction":{},"System_Instruction":{}}',
  ])("a body with two readings: %s", async (body) => {
    const answer = await post(`${MODEL}:generateContent`, body);
    expect([answer.status, google.seen]).toEqual([400, []]);
    expect((await answer.json()).error.status).toBe("INVALID_ARGUMENT");
  });

  test("a method that is not served", async () => {
    for (const path of [`${MODEL}:predict`, MODEL, ":generateContent"]) {
      expect((await post(path, {})).status).toBe(404);
    }
  });

  test("a model outside the key's scope, whatever the body says", async () => {
    const scopes = { models: ["gemini-2.5-flash-lite"] };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "scoped", scopes });
    const answer = await post(
      `${MODEL}:generateContent`,
      { model: "gemini-2.5-flash-lite", contents: [] },
      secret,
    );
    expect([answer.status, google.seen]).toEqual([403, []]);
  });
});

const post = (path: string, body: string | object, key = gateway.secret) =>
  fetch(`${gateway.url}/v1beta/models/${path}`, {
    method: "POST",
    headers: { "x-goog-api-key": key, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

async function textOf(stream: AsyncIterable<GenerateContentResponse>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk.text ?? "";
  return text;
}

async function refusalOf(call: Promise<unknown>): Promise<object> {
  const error: unknown = await call.catch((thrown) => thrown);
  if (!(error instanceof ApiError)) throw new Error("no error of the API");
  return JSON.parse(error.message).error;
}
