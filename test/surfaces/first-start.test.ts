import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { surfacesWorld } from "./world.ts";

// What a gateway answers on its first start, with no provider's credential at all: every surface, on the built-in
// provider, with honest counts and a price.

let world: Awaited<ReturnType<typeof surfacesWorld>>;
beforeAll(async () => {
  world = await surfacesWorld();
  // The vendors' routes, which `auto` would choose among as soon as a classifier is trained.
  for (const route of ["chat", "claude"]) await world.gateway.admin("DELETE", `/routes/${route}`);
});
afterAll(() => world.close());

const SENTENCE = "Grüezi 👋";
// Eight code points: two tokens of four.
const CASES: [path: string, body: object, expected: object][] = [
  [
    "/v1/images/generations",
    { model: "auto", prompt: SENTENCE, n: 2 },
    {
      surface: "images.generations",
      route: "image_generation",
      route_source: "fixed",
      images: 2,
      cost_usd: "0.02",
    },
  ],
  [
    "/v1/images/generations",
    { prompt: SENTENCE, n: 2, stream: true, partial_images: 1 },
    { route: "image_generation", route_source: "fixed", streamed: true, images: 2, cost_usd: "0.02" },
  ],
  [
    "/v1/images/edits",
    { model: "echo", prompt: SENTENCE, images: [{ image_url: "data:," }] },
    { surface: "images.edits", route: "echo", route_source: "direct", images: 1, cost_usd: "0.01" },
  ],
  [
    "/v1/audio/speech",
    { model: "auto", input: SENTENCE, voice: "alloy" },
    {
      route: "tts",
      route_source: "fixed",
      characters: 8,
      streamed: false,
      ttft_ms: null,
      cost_usd: "0.00008",
    },
  ],
  [
    "/v1/audio/speech",
    { input: SENTENCE, voice: "alloy", stream_format: "sse" },
    { route: "tts", characters: 8, streamed: true, cost_usd: "0.00008" },
  ],
  [
    "/v1/rerank",
    { model: "rerank", query: "a", documents: ["a", { text: "b" }, "c"] },
    {
      surface: "rerank",
      route: "rerank",
      route_source: "model",
      documents: 3,
      search_units: 1,
      cost_usd: "0.001",
    },
  ],
  [
    "/v2/rerank",
    { model: "auto", query: "a", documents: Array.from({ length: 101 }, () => "a") },
    { surface: "rerank.v2", route: "rerank", documents: 101, search_units: 2, cost_usd: "0.002" },
  ],
  ["/rerank", { query: "a", documents: ["a"] }, { surface: "rerank", route_source: "fixed", documents: 1 }],
  [
    "/v1/embeddings",
    { model: "echo", input: [SENTENCE, "Hi"] },
    {
      surface: "embeddings",
      route_source: "direct",
      input_tokens: 3,
      output_tokens: 0,
      cost_usd: "0.000003",
    },
  ],
  [
    "/v1/moderations",
    { model: "echo", input: SENTENCE },
    { surface: "moderations", usage_source: "none", cost_usd: "0", unpriced: false },
  ],
  [
    "/v1/responses",
    { model: "auto", input: SENTENCE },
    { surface: "responses", route: "echo", input_tokens: 2, output_tokens: 2, cost_usd: "0.000006" },
  ],
  [
    "/v1/responses",
    {
      model: "echo",
      instructions: "Hi",
      input: [{ role: "user", content: [{ type: "input_text", text: SENTENCE }] }],
      stream: true,
    },
    { surface: "responses", streamed: true, input_tokens: 3, output_tokens: 2, cost_usd: "0.000007" },
  ],
];

describe("the built-in provider answers, and its answer is counted and priced:", () => {
  test.each(CASES)("%s %j", async (path, body, expected) => {
    const { answer, record } = await world.recorded(path, body);
    expect(answer.status).toBe(200);
    expect(record as object).toMatchObject({
      provider: "echo",
      state: "ok",
      unpriced: false,
      partial: false,
      ...expected,
    });
  });

  test("a stream tells when its first content came, a plain answer does not", async () => {
    const body = { model: "auto", input: SENTENCE };
    expect((await world.recorded("/v1/responses", { ...body, stream: true })).record.ttft_ms).toBeNumber();
    expect((await world.recorded("/v1/responses", body)).record.ttft_ms).toBeNull();
  });
});

test("tokens are counted without a record", async () => {
  const session = "count-tokens-only";
  const body = { model: "echo", messages: [{ role: "user", content: SENTENCE }] };
  const answer = await world.post("/v1/messages/count_tokens", body, { session });
  expect(await answer.json()).toEqual({ input_tokens: 2 });
  await world.recorded("/v1/moderations", { model: "echo", input: "x" });
  expect(await world.gateway.sql`select 1 from requests where session = ${session}`).toHaveLength(0);
});

describe("GET /v1/models/{id}", () => {
  const get = (id: string, headers: Record<string, string> = {}, secret = world.gateway.secret) =>
    fetch(`${world.gateway.url}/v1/models/${id}`, { headers: { "x-api-key": secret, ...headers } });

  test("is one usable route, in either vendor's form", async () => {
    expect(await (await get("tts")).json()).toMatchObject({ id: "tts", object: "model", owned_by: "echo" });
    const anthropic = await get("tts", { "anthropic-version": "2023-06-01" });
    expect(await anthropic.json()).toMatchObject({ type: "model", id: "tts", display_name: "tts" });
  });

  test("is `auto` for a key that may use a route", async () => {
    expect(await (await get("auto")).json()).toMatchObject({ id: "auto", object: "model" });
  });

  test("a route outside the key's scope is not told from one that does not exist", async () => {
    const { secret } = await world.gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "narrow",
      scopes: { routes: ["tts"] },
    });
    const [hidden, missing] = await Promise.all([get("rerank", {}, secret), get("nothing", {}, secret)]);
    expect([hidden?.status, missing?.status]).toEqual([404, 404]);
    expect(await hidden?.json()).toEqual(await missing?.json());
    expect((await get("tts", {}, secret)).status).toBe(200);
  });

  test("what is not there is told in the vendor's shape, and finally", async () => {
    const answer = await get("nothing", { "anthropic-version": "2023-06-01" });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(await answer.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
    expect(await (await get("nothing")).json()).toMatchObject({ error: { code: "model_not_found" } });
  });
});
