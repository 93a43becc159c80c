import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { LLMock } from "@copilotkit/aimock";
import { embed, embedMany, generateImage, generateSpeech, generateText, streamText } from "ai";
import { CohereClientV2 } from "cohere-ai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Every method of the official clients that calls one of these surfaces, once at a mock of the vendors that nobody here
// wrote, once at the gateway before it. What the client makes of both must be the same, but for ids that the mock draws
// by lot.

let mock: LLMock;
let gateway: WiredGateway;

type Clients = { openai: OpenAI; cohere: CohereClientV2; ai: ReturnType<typeof createOpenAI> };
const clientsOf = (root: string, apiKey: string, session: string): Clients => {
  const headers = { "x-session-id": session };
  return {
    openai: new OpenAI({ apiKey, baseURL: `${root}/v1`, maxRetries: 0, defaultHeaders: headers }),
    cohere: new CohereClientV2({ token: apiKey, baseUrl: root, maxRetries: 0, headers }),
    ai: createOpenAI({ apiKey, baseURL: `${root}/v1`, headers }),
  };
};

const SOUND = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7) % 256));
const SAID = 'Grüße, 世界 👋\n"quoted" \\ back\tslash';
const USAGE = {
  input_tokens: 21,
  output_tokens: 8,
  total_tokens: 29,
  prompt_tokens: 21,
  completion_tokens: 8,
};

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 6 });
  mock.on({ userMessage: "greet" }, { content: SAID, id: "resp_1", created: 1_700_000_000, usage: USAGE });
  mock.on({ userMessage: "think" }, { content: "Yes.", reasoning: "Let me see.", id: "resp_2", created: 1 });
  mock.on(
    { userMessage: "weather" },
    { toolCalls: [{ name: "f", arguments: '{"city":"Bern"}', id: "call_1" }] },
  );
  mock.onEmbedding(/./, { embedding: [0.25, -0.5, 1] });
  mock.onImage(/./, { images: [{ b64Json: "iVBORw0K" }, { b64Json: "iVBORw0K" }] });
  mock.onSpeech(/./, { audio: SOUND.toString("base64"), format: "mp3" });
  mock.onModerate(/./, { flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } });
  mock.onRerank(/./, [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ]);
  mock.on(
    { userMessage: "too many" },
    { error: { message: "slow down", type: "rate_limit_error" }, status: 429 },
  );
  gateway = await wiredGateway({ chat: `${mock.url}/v1`, messages: mock.url });
  await gateway.admin("PUT", "/providers/ranker", {
    kind: "cohere",
    base_url: `${mock.url}/compatibility/v1`,
    credential: VENDOR_CREDENTIAL,
    models: ["rerank-*"],
    allow_private_network: true,
    enabled: true,
  });
});

const done: string[][] = [];
afterAll(async () => {
  const widths = [0, 1, 2].map((column) => Math.max(...done.map((row) => row[column]?.length ?? 0)));
  for (const row of done) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  await mock.stop();
});

/** Ids and times that the mock makes up anew for every answer. */
const scrubbed = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replace(/"(?:msg|rs|fc|item|resp|rerank|modr|call|img)[-_][\w-]{4,}"/g, '"id"')
      .replace(/"(?:created|created_at|timestamp)":(?:\d+|"[^"]*")/g, '"created":0'),
  );

const collect = <T>(stream: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(stream);
const bytesOf = async (answer: Response) => [...new Uint8Array(await answer.arrayBuffer())];
const outcome = (error: unknown) =>
  error instanceof OpenAI.APIError ? [error.constructor.name, error.status, error.error] : String(error);

type Case = [method: string, call: (clients: Clients) => Promise<unknown>, record: object];

const responses = { model: "gpt-5", input: "greet" };
const tools = [
  { type: "function" as const, name: "f", strict: false, parameters: { type: "object", properties: {} } },
];
const COUNTED = { surface: "responses", input_tokens: 21, output_tokens: 8, usage_source: "provider" };

const OPENAI: Case[] = [
  ["responses.create", ({ openai }) => openai.responses.create(responses), COUNTED],
  [
    "responses.create, streaming",
    async ({ openai }) => collect(await openai.responses.create({ ...responses, stream: true })),
    { ...COUNTED, streamed: true },
  ],
  [
    "responses.stream",
    async ({ openai }) => {
      const stream = openai.responses.stream(responses);
      const events = await collect(stream);
      return { events, final: await stream.finalResponse() };
    },
    { ...COUNTED, streamed: true },
  ],
  [
    "responses.create, reasoning",
    async ({ openai }) =>
      collect(await openai.responses.create({ ...responses, input: "think", stream: true })),
    { surface: "responses" },
  ],
  [
    "responses.create, tools",
    ({ openai }) => openai.responses.create({ ...responses, input: "weather", tools }),
    { surface: "responses" },
  ],
  [
    "responses.create, refused",
    ({ openai }) => openai.responses.create({ ...responses, input: "too many" }).catch(outcome),
    { state: "upstream_error", status: 429, cost_usd: "0" },
  ],
  [
    "embeddings.create",
    ({ openai }) => openai.embeddings.create({ model: "gpt-embed", input: ["a", "b"] }),
    { surface: "embeddings", output_tokens: 0 },
  ],
  [
    "embeddings.create, floats",
    ({ openai }) => openai.embeddings.create({ model: "gpt-embed", input: "a", encoding_format: "float" }),
    { surface: "embeddings" },
  ],
  [
    "moderations.create",
    ({ openai }) => openai.moderations.create({ model: "gpt-moderation", input: "x" }),
    { surface: "moderations", cost_usd: "0", unpriced: false },
  ],
  [
    "images.generate",
    ({ openai }) => openai.images.generate({ model: "gpt-image-9", prompt: "x", n: 2 }),
    { surface: "images.generations", images: 2 },
  ],
  [
    "audio.speech.create",
    async ({ openai }) =>
      bytesOf(await openai.audio.speech.create({ model: "gpt-tts", voice: "alloy", input: "Grüße 👋" })),
    { surface: "audio.speech", characters: 7 },
  ],
];

const COHERE: Case[] = [
  [
    "rerank",
    ({ cohere }) => cohere.rerank({ model: "rerank-v3.5", query: "q", documents: ["a", "b", "c"], topN: 2 }),
    { surface: "rerank.v2", provider: "ranker", documents: 3, search_units: 0 },
  ],
];

const AI: Case[] = [
  [
    "generateText, responses",
    async ({ ai }) => {
      const { text, usage, finishReason } = await generateText({
        model: ai.responses("gpt-5"),
        prompt: "greet",
      });
      return { text, usage, finishReason };
    },
    COUNTED,
  ],
  [
    "streamText, responses",
    async ({ ai }) => {
      const stream = streamText({ model: ai.responses("gpt-5"), prompt: "greet" });
      return { texts: await collect(stream.textStream), usage: await stream.usage };
    },
    { ...COUNTED, streamed: true },
  ],
  [
    "embed",
    async ({ ai }) => (await embed({ model: ai.embedding("gpt-embed"), value: "a" })).embedding,
    { surface: "embeddings" },
  ],
  [
    "embedMany",
    async ({ ai }) => (await embedMany({ model: ai.embedding("gpt-embed"), values: ["a", "b"] })).embeddings,
    { surface: "embeddings" },
  ],
  [
    "generateImage",
    async ({ ai }) =>
      (await generateImage({ model: ai.image("gpt-image-9"), prompt: "x", n: 2 })).images.map(
        (it) => it.base64,
      ),
    { surface: "images.generations", images: 2 },
  ],
  [
    "generateSpeech",
    async ({ ai }) => (await generateSpeech({ model: ai.speech("gpt-tts"), text: "Grüße 👋" })).audio.base64,
    { surface: "audio.speech", characters: 7 },
  ],
];

describe.each([
  ["openai", OPENAI],
  ["cohere-ai", COHERE],
  ["ai", AI],
] as const)("%s gets the same through the gateway as from the vendor:", (client, cases) => {
  test.each(cases as Case[])("%s", async (method, call, expected) => {
    const session = newId();
    const direct = await call(clientsOf(mock.url, "mock", session));
    const through = await call(clientsOf(gateway.url, gateway.secret, session));
    expect(scrubbed(direct)).not.toBeNull();
    expect(scrubbed(through)).toEqual(scrubbed(direct));
    const [record] = await gateway.records(session);
    expect(record as object).toMatchObject(expected);
    done.push([client, method, "the same, and recorded"]);
  });
});
