import { beforeAll, describe, expect, test } from "bun:test";
import { DETECTORS } from "#shared/admin/guardrails.ts";
import { fault, type Json, type World, world } from "./world.ts";

let it: World;

beforeAll(async () => {
  it = await world();
});

const DEFAULTS = {
  position: 100,
  enabled: true,
  mode: "enforce",
  match: {},
  action: "block",
  message: null,
  callout: null,
};

describe("guardrails", () => {
  test("have their defaults, and are in force when the answer is there", async () => {
    const { status, body } = await it.call("POST", "/guardrails", { name: "first" });
    expect([status, body]).toEqual([
      201,
      { name: "first", ...DEFAULTS, created_at: body.created_at, updated_at: body.updated_at },
    ]);
    expect(it.directory.current().guardrails.map(({ name }) => name)).toContain("first");
    expect((await it.call("PATCH", "/guardrails/first", { enabled: false })).body.enabled).toBe(false);
    expect(it.directory.current().guardrails.map(({ name }) => name)).not.toContain("first");
  });

  test("are tried in the order of their positions, then of their names", async () => {
    for (const [name, position] of Object.entries({ zeta: 1, beta: 2, alpha: 2 })) {
      await it.call("PUT", `/guardrails/${name}`, { position, match: { tags: ["x"] } });
    }
    const order = it.directory.current().guardrails.map(({ name }) => name);
    expect(order).toEqual(["zeta", "alpha", "beta"]);
  });

  test("can be put, read, listed and deleted", async () => {
    const body = {
      position: 7,
      mode: "observe",
      match: { models: ["gpt-*"], pattern: "(?i)secret", detect: ["iban"] },
      action: "soft_deny",
      message: "No.",
      callout: { url: "https://1.1.1.1/judge", timeout_ms: 500, on_failure: "closed" },
    };
    expect((await it.call("PUT", "/guardrails/whole", body)).status).toBe(201);
    expect((await it.call("PUT", "/guardrails/whole", body)).status).toBe(200);
    expect((await it.call("GET", "/guardrails/whole")).body).toMatchObject(body);
    const { data } = (await it.call("GET", "/guardrails?limit=1&after=beta")).body;
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["email"]);
    expect((await it.call("DELETE", "/guardrails/whole")).status).toBe(204);
    expect((await it.call("GET", "/guardrails/whole")).status).toBe(404);
  });

  test("for each built-in pattern are there from the first start, switched off", async () => {
    const { data } = (await it.call("GET", "/guardrails?limit=100")).body;
    const builtIn: Json[] = data.filter(({ position }: Json) => position >= 1000);
    expect(builtIn.flatMap(({ match }) => match.detect).sort()).toEqual([...DETECTORS].sort());
    expect(builtIn.every(({ enabled }) => enabled === false)).toBe(true);
  });

  test("that a route lists cannot be deleted", async () => {
    await it.call("PUT", "/guardrails/held", {});
    const route = { surface: "chat", provider: "echo", model: "echo", guardrails: ["held"] };
    expect((await it.call("PUT", "/routes/guarded", route)).status).toBe(201);
    expect(await fault(it.call("DELETE", "/guardrails/held"))).toBe(
      "422 The guardrail held is used by: route guarded.",
    );
  });

  test.each([
    [{ match: { pattern: "(?=a)" } }, "/match/pattern: Expected an RE2 expression"],
    [{ match: { detect: ["face"] } }, "/match/detect/0: Expected one of"],
    [{ match: { tags: [] } }, "/match/tags"],
    [{ match: { colour: ["red"] } }, "/match/colour"],
    [{ action: "warn" }, "/action: Expected one of"],
    [
      { callout: { url: "http://127.0.0.1:9/", timeout_ms: 500, on_failure: "open" } },
      "/callout/url: Plain http needs allow_private_network",
    ],
    [{ callout: { url: "https://1.1.1.1/" } }, "/callout/timeout_ms"],
  ])("that are wrong are refused by the member: %j", async (body, message) => {
    expect(await fault(it.call("PUT", "/guardrails/wrong", body))).toStartWith(`400 ${message}`);
  });
});
