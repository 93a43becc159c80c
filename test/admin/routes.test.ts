import { beforeAll, describe, expect, test } from "bun:test";
import { fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
const SUMMARY = { surface: "chat", provider: "echo", model: "echo" };

describe("routes", () => {
  test("POST makes one with defaults, which GET shows and the directory has", async () => {
    const made = await it.call("POST", "/routes", { name: "summary", ...SUMMARY });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      name: "summary",
      ...SUMMARY,
      fallbacks: [],
      description: "",
      examples: [],
      weight: null,
      first_byte_seconds: null,
      idle_seconds: null,
      keywords: [],
      guardrails: [],
      body_capture: false,
      subscription_passthrough: false,
      usage_chunk: "withhold",
      on_client_gone: "drain",
      refuse_with: "block",
      inexpressible: "refuse",
      enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await it.call("GET", "/routes/summary")).body).toEqual(made.body);
    expect(it.directory.current().routes.get("summary")).toMatchObject({
      model: "echo",
      usageChunk: "withhold",
    });
  });

  test("every member that is set comes back as it was set", async () => {
    const full = {
      ...SUMMARY,
      weight: 2,
      fallbacks: [{ provider: "echo", model: "other", weight: 1 }],
      first_byte_seconds: 20,
      idle_seconds: 30,
      description: "two\nlines, and „quotes“",
      examples: ["Sum this up", 'a "quoted" one'],
      keywords: ["sum"],
      body_capture: true,
      subscription_passthrough: true,
      usage_chunk: "pass",
      on_client_gone: "cancel",
      refuse_with: "soft_deny",
      inexpressible: "drop",
      enabled: false,
    };
    expect((await it.call("PUT", "/routes/full", full)).body).toMatchObject(full);
    expect((await it.call("PATCH", "/routes/full", { model: "third" })).body).toMatchObject({
      ...full,
      model: "third",
    });
    const reset = (await it.call("PUT", "/routes/full", SUMMARY)).body;
    expect(reset).toMatchObject({ fallbacks: [], examples: [], usage_chunk: "withhold", enabled: true });
  });

  test.each([
    [{ name: "auto" }, "/name: Expected a name of 1 to 64"],
    [{ name: "Big" }, "/name: Expected a name of 1 to 64"],
    [{ name: "/gpt" }, "/name: Expected a name of 1 to 64"],
    [{ name: "a/".repeat(33) }, "/name: Expected a name of 1 to 64"],
    [{ surface: "chats" }, "/surface: Expected one of chat, embeddings, image_generation, tts, rerank"],
    [{ model: "" }, "/model: Expected text of 1 to 256 characters"],
    [{ models: ["x"] }, "/models: Unexpected property"],
    [{ fallbacks: [{ provider: "echo" }] }, "/fallbacks/0/model: Expected required property"],
    [
      { fallbacks: [{ provider: "echo", model: "m", weight: 0 }] },
      "/fallbacks/0/weight: Expected integer to be greater or equal to 1",
    ],
    [{ usage_chunk: "hide" }, "/usage_chunk: Expected one of withhold, pass"],
    [{ examples: ["nul \u0000"] }, "/examples/0: Expected text of at most 4000 characters, none of them NUL"],
  ])("a body that is wrong is refused by the member: %p", async (part, message) => {
    expect(await fault(it.call("POST", "/routes", { name: "wrong", ...SUMMARY, ...part }))).toStartWith(
      `400 ${message}`,
    );
  });

  test("text that Postgres cannot store is refused, not a failure", async () => {
    const answer = await it.call("PUT", "/routes/lone", { ...SUMMARY, keywords: ["\ud800"] });
    expect([201, 400]).toContain(answer.status);
  });

  test("auto cannot be put either", async () => {
    expect(await fault(it.call("PUT", "/routes/auto", SUMMARY))).toStartWith(
      '400 /name: Expected a name of 1 to 64 of a-z, 0-9, ., _, / and -, other than "auto"',
    );
  });

  test("a route names providers that exist, and the answer says which does not", async () => {
    const missing = it.call("PUT", "/routes/lost", { ...SUMMARY, provider: "nobody" });
    expect(await fault(missing)).toBe("422 /provider: No provider is named nobody.");
    const fallbacks = [
      { provider: "echo", model: "m" },
      { provider: "nobody", model: "m" },
    ];
    expect(await fault(it.call("PUT", "/routes/lost", { ...SUMMARY, fallbacks }))).toBe(
      "422 /fallbacks/1/provider: No provider is named nobody.",
    );
  });

  test("a refused change leaves nothing behind, not even a new version", async () => {
    const { version } = it.directory.current();
    await it.call("PUT", "/routes/lost", { ...SUMMARY, provider: "nobody" });
    await it.directory.refresh();
    expect(it.directory.current().version).toBe(version);
    expect((await it.call("GET", "/routes/lost")).status).toBe(404);
  });

  test("a guardrail that does not exist cannot be named: nothing would be guarded", async () => {
    expect(await fault(it.call("PUT", "/routes/guarded", { ...SUMMARY, guardrails: ["pii"] }))).toBe(
      "422 /guardrails: No guardrail is named pii.",
    );
  });

  test("the default route can neither be deleted nor leave the chat surface", async () => {
    expect(await fault(it.call("DELETE", "/routes/echo"))).toStartWith(
      "422 The route echo is the default route",
    );
    expect(await fault(it.call("PATCH", "/routes/echo", { surface: "tts" }))).toStartWith(
      "422 The route echo is",
    );
    await it.call("PATCH", "/settings", { default_route: "summary" });
    expect((await it.call("DELETE", "/routes/echo")).status).toBe(204);
    expect((await it.call("DELETE", "/routes/echo")).status).toBe(404);
  });

  test("changes at once neither lose each other nor let a route name a deleted provider", async () => {
    await it.call("PUT", "/providers/busy", { kind: "groq" });
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, (_, n) =>
        it.call("PUT", `/routes/busy-${n}`, { ...SUMMARY, provider: "busy" }).then(({ status }) => status),
      ),
      it.call("DELETE", "/providers/busy").then(({ status }) => `delete ${status}`),
    ]);
    const made = answers.filter((status) => status === 201).length;
    expect(answers).toContain(made > 0 ? "delete 422" : "delete 204");
    for (const route of it.directory.current().routes.values()) {
      expect(it.directory.current().providers.has(route.provider)).toBe(true);
    }
  });
});
