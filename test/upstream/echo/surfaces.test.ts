import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import { SURFACES, type SurfaceName, surfaceFacts } from "#gateway/surface-facts.ts";
import { echoFetch } from "#gateway/upstream/echo/echo.ts";

const utf8 = new TextEncoder();
const ask = (surface: SurfaceName, body: unknown) =>
  echoFetch({ surface, bytes: utf8.encode(JSON.stringify(body)) });

const NAMES = Object.keys(SURFACES) as SurfaceName[];

/** The vendors' own clients, with the built-in provider as their network: whatever address they call answers. */
const network = (async (input: string | URL | Request, init?: RequestInit) => {
  const { pathname } = new URL(String(input));
  const surface = NAMES.find((name) => surfaceFacts(name).path === pathname);
  return surface
    ? echoFetch({ surface, bytes: utf8.encode(String(init?.body)) })
    : new Response(null, { status: 404 });
}) as typeof fetch;
const openai = new OpenAI({ apiKey: "k", baseURL: "http://echo.invalid/v1", fetch: network });
const anthropic = new Anthropic({ apiKey: "k", baseURL: "http://echo.invalid", fetch: network });

const SAID = "Is it raining in Bern? 🌧️";
// 25 code points: 7 tokens of 4.
const TOKENS = 7;

describe("responses", () => {
  test("the vendor's client reads text and counts, and what instructions and other items add", async () => {
    const answer = await openai.responses.create({
      model: "echo",
      instructions: "Hi",
      input: [
        { role: "user", content: "earlier" },
        { type: "function_call_output", call_id: "c", output: "not counted" },
        { role: "user", content: [{ type: "input_text", text: SAID }] },
      ],
    });
    expect(answer.output_text).toBe(SAID);
    expect(answer.status).toBe("completed");
    expect(answer.usage).toMatchObject({ input_tokens: 1 + 2 + TOKENS, output_tokens: TOKENS });
  });

  test("the vendor's client puts the stream together", async () => {
    const stream = openai.responses.stream({ model: "echo", input: SAID });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect([deltas.length, deltas.join(""), final.output_text]).toEqual([TOKENS, SAID, SAID]);
    expect(final.usage).toMatchObject({ input_tokens: TOKENS, output_tokens: TOKENS });
  });

  test("an answer that ends at the client's limit is incomplete, and so is its last event", async () => {
    const body = { model: "echo", input: SAID, max_output_tokens: 2 };
    const answer = await openai.responses.create(body);
    expect(answer).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect(await ask("responses", { ...body, stream: true }).text()).toContain(
      "event: response.incomplete\n",
    );
  });

  test("plain and streamed answers tell the same counts", async () => {
    const plain = WIRES.responses.readAnswer(await ask("responses", { input: SAID }).bytes(), PROVIDERS.echo);
    const meter = streamMeter(WIRES.responses, PROVIDERS.echo, { withholdUsage: false });
    meter.watch(await ask("responses", { input: SAID, stream: true }).bytes());
    expect([meter.terminalSeen(), meter.contentSeen()]).toEqual([true, true]);
    expect(meter.reading(true)).toEqual(plain);
  });
});

describe("embeddings", () => {
  test("the vendor's client reads the same direction whether it asks for base64 or floats", async () => {
    const [encoded, plain] = await Promise.all([
      openai.embeddings.create({ model: "echo", input: [SAID, "Hi"] }),
      openai.embeddings.create({ model: "echo", input: [SAID, "Hi"], encoding_format: "float" }),
    ]);
    expect(encoded.data.map(({ embedding }) => [...embedding])).toEqual(plain.data.map((it) => it.embedding));
    expect(encoded.usage).toEqual({ prompt_tokens: TOKENS + 1, total_tokens: TOKENS + 1 });
    for (const { embedding } of plain.data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  });

  test("texts that share words are nearer than texts that share none", async () => {
    const { data } = await openai.embeddings.create({
      model: "echo",
      input: ["rain in bern", "snow in bern", "quantum chromodynamics"],
      dimensions: 1024,
    });
    const [rain = [], snow = [], quantum = []] = data.map(({ embedding }) => [...embedding]);
    const near = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
    expect(rain).toHaveLength(1024);
    expect(near(rain, snow)).toBeGreaterThan(near(rain, quantum));
  });

  test("tokens are counted as tokens", async () => {
    const one = await openai.embeddings.create({ model: "echo", input: [1, 2, 3] });
    expect([one.data.length, one.usage.prompt_tokens]).toEqual([1, 3]);
    const two = await openai.embeddings.create({ model: "echo", input: [[1], [2, 3]] });
    expect([two.data.length, two.usage.prompt_tokens]).toEqual([2, 3]);
  });
});

test("moderations have one result for each text and find nothing", async () => {
  const { results } = await openai.moderations.create({ input: ["a", "b"] });
  expect(results.map(({ flagged }) => flagged)).toEqual([false, false]);
  expect((await openai.moderations.create({ input: "a" })).results).toHaveLength(1);
});

test("tokens of a message are counted as the message itself would count them", async () => {
  const messages = [{ role: "user" as const, content: SAID }];
  const counted = await anthropic.messages.countTokens({ model: "echo", system: "Be brief.", messages });
  const said = await anthropic.messages.create({
    model: "echo",
    max_tokens: 9,
    system: "Be brief.",
    messages,
  });
  expect(counted.input_tokens).toBe(3 + TOKENS);
  expect(said.usage.input_tokens).toBe(counted.input_tokens);
});

describe("images", () => {
  test("as many as were asked for, each a picture", async () => {
    const { data = [] } = await openai.images.generate({ model: "echo", prompt: SAID, n: 3 });
    expect(data).toHaveLength(3);
    const bytes = Buffer.from(data[0]?.b64_json ?? "", "base64");
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  });

  test("a stream has the partial ones that were asked for, and one completed", async () => {
    const stream = await openai.images.generate({
      model: "echo",
      prompt: SAID,
      stream: true,
      partial_images: 2,
    });
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    expect(types).toEqual([
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
  });
});

describe("speech", () => {
  test.each([
    ["mp3", "audio/mpeg", [0xff, 0xfb]],
    ["wav", "audio/wav", [..."RIFF"].map((letter) => letter.charCodeAt(0))],
    ["pcm", "audio/pcm", [0, 0]],
  ] as const)(
    "%s is silence that is longer the more there is to say",
    async (response_format, type, head) => {
      const speak = (input: string) =>
        openai.audio.speech.create({ model: "echo", voice: "alloy", input, response_format });
      const [short, long] = await Promise.all([speak("Hi"), speak(SAID)]);
      expect(short.headers.get("content-type")).toBe(type);
      const bytes = [
        new Uint8Array(await short.arrayBuffer()),
        new Uint8Array(await long.arrayBuffer()),
      ] as const;
      expect([...bytes[0].subarray(0, head.length)]).toEqual([...head]);
      expect(bytes[1].length).toBeGreaterThan(bytes[0].length);
    },
  );

  test("a format that it does not make is refused", () => {
    expect(ask("audio.speech", { input: "x", response_format: "opus" }).status).toBe(400);
  });
});

describe("rerank", () => {
  const documents = ["snow in Zug", { text: "rain in Bern" }, "Bern"];

  test("documents come in the order of the words they share with the query", async () => {
    const answer = await ask("rerank", { query: "Rain in Bern?", documents, return_documents: true }).json();
    expect(answer.results).toEqual([
      { index: 1, relevance_score: 1, document: { text: "rain in Bern" } },
      { index: 0, relevance_score: 0.3333, document: { text: "snow in Zug" } },
      { index: 2, relevance_score: 0.3333, document: { text: "Bern" } },
    ]);
  });

  test("a search unit pays for a hundred documents, however many are returned", async () => {
    const many = Array.from({ length: 101 }, () => "x");
    const answer = await ask("rerank.v2", { query: "x", documents: many, top_n: 3 }).json();
    expect([answer.results.length, answer.meta.billed_units.search_units]).toEqual([3, 2]);
  });
});

test.each(NAMES)(
  "%s: the same bytes always get the same answer, and a body without its text is refused",
  async (surface) => {
    const gemini = { contents: [], content: {}, requests: [] };
    const body = { messages: [], input: "x", prompt: "x", documents: ["x"], ...gemini };
    const bytes = async () => Buffer.from(await ask(surface, body).bytes()).toString("hex");
    expect(await bytes()).toBe(await bytes());
    for (const wrong of [{}, [], "x"]) expect(ask(surface, wrong).status).toBe(400);
  },
);
