import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { SOUND, surfacesWorld } from "./world.ts";

let world: Awaited<ReturnType<typeof surfacesWorld>>;
beforeAll(async () => {
  world = await surfacesWorld();
  const price = { effective_from: "2020-01-01", input: "0", output: "0" };
  await world.gateway.admin("POST", "/prices", { model: "gpt-voice", per_character: "0.000015", ...price });
  await world.gateway.admin("POST", "/prices", { model: "gpt-paint", per_image: "0.04", ...price });
  await world.gateway.admin("POST", "/prices", { model: "gpt-rank", per_call: "0.002", ...price });
});
afterAll(() => world.close());

const lastSeen = () => world.upstream.seen.at(-1);

describe("speech", () => {
  test("sound reaches the client byte for byte, and costs by the code point", async () => {
    const { answer, bytes, record } = await world.recorded("/v1/audio/speech", {
      model: "gpt-voice",
      input: "Straße 🎷",
      voice: "alloy",
    });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(Buffer.from(bytes ?? []).equals(Buffer.from(SOUND))).toBe(true);
    expect(record as object).toMatchObject({
      characters: 8,
      input_tokens: null,
      cost_usd: "0.00012",
      usage_source: "provider",
      provider_request_id: "req_sound",
    });
  });

  test("the same as events costs the same, and tells tokens besides", async () => {
    const body = { model: "gpt-voice", input: "Straße 🎷", voice: "alloy", stream_format: "sse" };
    const { record } = await world.recorded("/v1/audio/speech", body);
    expect(record as object).toMatchObject({
      characters: 8,
      input_tokens: 14,
      cost_usd: "0.00012",
      streamed: true,
    });
    expect(record.ttft_ms).toBeNumber();
  });

  test("a `stream` that is no boolean is 400 here as on every surface, and reaches no one", async () => {
    const before = world.upstream.seen.length;
    const body = { model: "gpt-voice", input: "abcd", voice: "alloy" };
    for (const more of [{ stream: "yes" }, { stream: 1, stream_format: "sse" }]) {
      const answer = await world.post("/v1/audio/speech", { ...body, ...more });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining("`stream` must be true or false."),
      ]);
    }
    expect(world.upstream.seen.length).toBe(before);
  });

  test("sound that breaks off breaks off for the client too, and is recorded at its price", async () => {
    const session = newId();
    const body = { model: "gpt-voice", input: "abcd", voice: "alloy", way: "broken" };
    const whole = world.post("/v1/audio/speech", body, { session }).then((answer) => answer.bytes());
    expect(await whole.catch(() => "broken")).toBe("broken");
    const [record] = await world.gateway.records(session);
    expect(record as object).toMatchObject({ state: "upstream_broken", characters: 4, cost_usd: "0.00006" });
  });
});

test("a client that leaves in the middle of sound is recorded at the price of what it asked to be spoken", async () => {
  const session = newId();
  const body = { model: "gpt-voice", input: "abcdef", voice: "alloy", way: "endless" };
  const answer = await world.post("/v1/audio/speech", body, { session });
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  const [record] = await world.gateway.records(session);
  expect(record as object).toMatchObject({ state: "client_gone", characters: 6, cost_usd: "0.00009" });
});

describe("images", () => {
  test.each([false, true])(
    "those returned are counted, not those asked for (streamed: %p)",
    async (stream) => {
      const body = { model: "gpt-paint", prompt: "x", n: 4, way: "partly", stream };
      const { answer, record } = await world.recorded("/v1/images/generations", body);
      expect(answer.status).toBe(200);
      expect(record as object).toMatchObject({ state: "ok", images: 3, cost_usd: "0.12", partial: false });
      expect(record.ttft_ms === null).toBe(!stream);
    },
  );

  test("a provider that answered 503 may have begun, so no fallback is asked", async () => {
    await world.gateway.admin("PUT", "/routes/paint", {
      surface: "image_generation",
      provider: "chat-vendor",
      model: "gpt-paint",
      fallbacks: [{ provider: "echo", model: "echo" }],
    });
    const { answer, record } = await world.recorded("/v1/images/generations", {
      model: "paint",
      prompt: "x",
      way: "busy",
    });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "3"]);
    expect(record as object).toMatchObject({ attempts: 1, provider: "chat-vendor", cost_usd: "0" });
  });

  test("the multipart form of a JSON surface is refused before it is read", async () => {
    const answer = await world.post("/v1/images/generations", "--b--", {
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([415, "false"]);
  });
});

describe("rerank", () => {
  test.each([
    ["/v1/rerank", "/v1/rerank"],
    ["/rerank", "/v1/rerank"],
    ["/v2/rerank", "/v2/rerank"],
  ])("%s goes to Cohere's own %s", async (asked, called) => {
    await world.vendor("ranker", "cohere", ["rank-*"]);
    const body = { model: "rank-1", query: "q", documents: ["a", "b"] };
    const { record } = await world.recorded(asked, body);
    expect(lastSeen()?.path).toBe(called);
    expect(record as object).toMatchObject({ documents: 2, search_units: 1, cost_usd: null, unpriced: true });
  });

  test("documents are counted, and a price per call is charged once whatever their number", async () => {
    const body = { model: "gpt-rank", query: "q", documents: ["a", "b", "c"] };
    const { record } = await world.recorded("/v1/rerank", body);
    expect(lastSeen()?.path).toBe("/v1/rerank");
    expect(record as object).toMatchObject({ documents: 3, cost_usd: "0.002" });
  });
});

describe("embeddings and moderations", () => {
  test("embeddings cost their input and have no output", async () => {
    await world.vendor("embedder", "openai", ["text-embedding-*"]);
    const body = { model: "text-embedding-3-small", input: "x", encoding_format: "base64" };
    const { record } = await world.recorded("/v1/embeddings", body);
    expect(lastSeen()?.body).toBe(JSON.stringify(body));
    expect(record as object).toMatchObject({ input_tokens: 5, output_tokens: 0, cost_usd: "0.0000001" });
  });

  test("moderations cost nothing, and that is known, whatever became of them", async () => {
    const fine = await world.recorded("/v1/moderations", { model: "gpt-mod", input: "x" });
    expect(fine.record as object).toMatchObject({
      route: "(direct)",
      model: "gpt-mod",
      cost_usd: "0",
      unpriced: false,
    });
    const busy = await world.recorded("/v1/moderations", { model: "gpt-mod", input: "x", way: "busy" });
    expect(busy.record as object).toMatchObject({ state: "upstream_error", cost_usd: "0", unpriced: false });
  });
});

test("tokens are counted by the vendor of the route, and leave no record", async () => {
  const session = newId();
  const body = { model: "claude", messages: [{ role: "user", content: "x" }] };
  const answer = await world.post("/v1/messages/count_tokens?beta=true", body, { session });
  expect(await answer.json()).toEqual({ input_tokens: 2095 });
  expect(lastSeen()?.path).toBe("/v1/messages/count_tokens?beta=true");
  expect(JSON.parse(lastSeen()?.body ?? "").model).toBe("claude-opus-4-6");
  await world.recorded("/v1/moderations", { model: "gpt-mod", input: "x" });
  expect(await world.gateway.sql`select 1 from requests where session = ${session}`).toHaveLength(0);
});

test("tokens are estimated where the route's vendor counts none", async () => {
  const seen = world.upstream.seen.length;
  const text = "word ".repeat(700);
  const body = { model: "chat", system: "Be brief.", messages: [{ role: "user", content: text }] };
  const answer = await world.post("/v1/messages/count_tokens", body, {});
  expect(answer.status).toBe(200);
  const { input_tokens } = (await answer.json()) as { input_tokens: number };
  expect(input_tokens).toBeWithin(700, 1100);
  expect(world.upstream.seen.length).toBe(seen);
});

test("an address's query goes to a vendor of the same format, without what may be a credential", async () => {
  const body = { model: "claude", max_tokens: 1, messages: [{ role: "user", content: "x" }] };
  await world.post("/v1/messages?beta=true&key=sk-1&x=tg_1&a=b%20c", body, {});
  expect(lastSeen()?.path).toBe("/v1/messages?beta=true&a=b+c");
  await world.post("/v1/messages?beta=true", { ...body, model: "chat" }, {});
  expect(lastSeen()?.path).toBe("/v1/chat/completions");
});

test("files have errors in Anthropic's shape for its clients", async () => {
  for (const [headers, type] of [
    [{ "anthropic-version": "2023-06-01" }, "error"],
    [{}, undefined],
  ] as const) {
    const answer = await fetch(`${world.gateway.url}/v1/files`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${world.gateway.secret}`, ...headers },
    });
    expect(answer.status).toBe(415);
    expect(((await answer.json()) as { type?: string }).type).toBe(type);
  }
});

describe("refusals are final and name what to do", () => {
  const REFUSED: [what: string, path: string, body: object, headers: object, status: number, code: string][] =
    [
      [
        "a hint of another surface",
        "/v1/audio/speech",
        { input: "x" },
        { "x-task-type": "rerank" },
        400,
        "unknown_route",
      ],
      [
        "a hint where nothing is routed",
        "/v1/moderations",
        { input: "x" },
        { "x-task-type": "tts" },
        400,
        "unknown_route",
      ],
      [
        "auto where nothing is routed",
        "/v1/moderations",
        { model: "auto", input: "x" },
        {},
        400,
        "invalid_request",
      ],
      [
        "auto for embeddings without a route",
        "/v1/embeddings",
        { model: "auto", input: "x" },
        {},
        404,
        "model_not_found",
      ],
      [
        "an unknown model",
        "/v1/embeddings",
        { model: "nobody-has-it", input: "x" },
        {},
        404,
        "model_not_found",
      ],
      [
        "a vendor that has no embeddings",
        "/v1/embeddings",
        { model: "claude-x", input: "x" },
        {},
        400,
        "invalid_request",
      ],
    ];
  test.each(REFUSED)("%s", async (_, path, body, headers, status, code) => {
    const before = world.upstream.seen.length;
    const answer = await world.post(path, body, { headers });
    const told = await answer.json();
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([status, "false"]);
    expect(code === "-" ? told.type : told.error.code).toBe(code === "-" ? "error" : code);
    expect(world.upstream.seen.length).toBe(before);
  });

  test("a key of one route uses no other surface's, and a list of models allows no unnamed one", async () => {
    const key = (name: string, scopes: object) =>
      world.gateway.admin<{ secret: string }>("POST", "/keys", { name, scopes });
    const { secret: narrow } = await key("narrow", { routes: ["rerank"] });
    const { secret: listed } = await key("listed", { models: ["gpt-mod"] });
    const asked = async (path: string, body: object, secret: string) =>
      (await world.post(path, body, { secret })).status;
    expect(await asked("/v1/audio/speech", { input: "x" }, narrow)).toBe(403);
    expect(await asked("/v1/rerank", { query: "x", documents: [] }, narrow)).toBe(200);
    expect(await asked("/v1/moderations", { model: "gpt-mod", input: "x" }, listed)).toBe(200);
    expect(await asked("/v1/moderations", { model: "gpt-other", input: "x" }, listed)).toBe(403);
  });
});

test("a model that nobody is known to serve, or none, goes to the only provider that could answer", async () => {
  const { gateway } = world;
  for (const name of ["ranker", "embedder"])
    await gateway.admin("PATCH", `/providers/${name}`, { enabled: false });
  const unnamed = await world.recorded("/v1/moderations", { input: "x" });
  expect(unnamed.record as object).toMatchObject({ provider: "chat-vendor", model: null, route: "(direct)" });
  expect(lastSeen()?.body).toBe('{"input":"x"}');
  const unknown = await world.recorded("/v1/moderations", { model: "mystery", input: "x" });
  expect(unknown.record as object).toMatchObject({ provider: "chat-vendor", model: "mystery" });
  await gateway.admin("PATCH", "/providers/embedder", { enabled: true });
  const several = await world.post("/v1/moderations", { input: "x" });
  expect([several.status, (await several.json()).error.message]).toEqual([
    400,
    "Several providers could answer this surface. Name a model that one of them serves, or make one of them the default: its `default_for` lists `moderations`.",
  ]);
  await gateway.admin("PATCH", "/providers/embedder", { enabled: false });
  await gateway.admin("PATCH", "/providers/chat-vendor", { enabled: false });
  expect((await world.post("/v1/moderations", { input: "x" })).status).toBe(404);
});
