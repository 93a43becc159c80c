import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let service: ReturnType<typeof Bun.serve>;
let asked: unknown[] = [];
let judge: () => Response | Promise<Response> = () => Response.json({ action: "allow" });

beforeAll(async () => {
  upstream = await scriptedUpstream((_, reply) =>
    reply.json({ id: "c", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  );
  service = Bun.serve({
    port: 0,
    fetch: async (request) => {
      asked.push(await request.json());
      return await judge();
    },
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

afterAll(async () => {
  await service.stop(true);
});

async function call(tag: string, content: string, body: object = {}) {
  const session = newId();
  const before = upstream.seen.length;
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session, "x-tags": tag },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content }], ...body }),
  });
  const text = await answer.text();
  await gateway.records(session);
  const rows = await gateway.sql<{ state: string; guardrail: string | null; status: number }[]>`
    select state, guardrail, status from requests where session = ${session}`;
  return { status: answer.status, text, record: rows[0], wentUp: upstream.seen.length > before };
}

const REFUSED = { status: 403, wentUp: false };
const PASSED = { status: 200, wentUp: true };

describe("a rule over texts", () => {
  beforeAll(() =>
    gateway.admin("PUT", "/guardrails/words", { match: { tags: ["text"], pattern: "(?i)project falcon" } }),
  );

  test("refuses what the pattern is found in, and nothing goes to the provider", async () => {
    const refused = await call("text", "about Project Falcon");
    expect(refused).toMatchObject({
      ...REFUSED,
      record: { state: "denied", guardrail: "words", status: 403 },
    });
    expect(refused.text).not.toContain("Falcon");
    expect(await call("text", "about birds")).toMatchObject({ ...PASSED, record: { guardrail: null } });
  });

  test("reads tool arguments that are JSON with escapes", async () => {
    const calls = [{ function: { name: "f", arguments: String.raw`{"q":"project \u0066alcon"}` } }];
    const messages = [{ role: "assistant", tool_calls: calls }];
    expect(await call("text", "", { messages })).toMatchObject(REFUSED);
  });
});

test("a rule that is only observed is counted and recorded, and the call goes on", async () => {
  await gateway.admin("PUT", "/guardrails/watching", {
    mode: "observe",
    match: { tags: ["watched"], detect: ["email"] },
  });
  const passed = await call("watched", "to jane@example.org");
  expect(passed).toMatchObject({ ...PASSED, record: { state: "ok", guardrail: "watching" } });
  const metrics = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(await metrics.text()).toContain(
    'tallygate_guardrail_matches_total{guardrail="watching",outcome="observed"} 1',
  );
});

test("a route refuses softly where it says so, with what it lists", async () => {
  await gateway.admin("PUT", "/guardrails/closed", {});
  await gateway.admin("PATCH", "/routes/claude", { guardrails: ["closed"], refuse_with: "soft_deny" });
  const refused = await call("any", "hello", { model: "claude" });
  expect(refused).toMatchObject({
    status: 200,
    wentUp: false,
    record: { state: "denied", guardrail: "closed" },
  });
  expect(await call("any", "hello")).toMatchObject(PASSED);
});

describe("a rule with a service", () => {
  const rule = (on_failure: "open" | "closed", timeout_ms = 30_000) =>
    gateway.admin("PUT", "/guardrails/service", {
      match: { tags: ["served"] },
      message: "Ours.",
      callout: { url: `${service.url}judge`, timeout_ms, on_failure, allow_private_network: true },
    });

  test("sends labels and texts, and does what is answered", async () => {
    await rule("closed");
    asked = [];
    judge = () => Response.json({ action: "allow" });
    expect(await call("served", "hello")).toMatchObject(PASSED);
    expect(asked).toEqual([
      {
        guardrail: "service",
        route: "chat",
        model: "gpt-4o",
        key: { id: expect.any(String), name: "suite" },
        client: expect.any(String),
        tags: ["served"],
        texts: ["hello"],
      },
    ]);
    judge = () => Response.json({ action: "deny", message: "Theirs." });
    const refused = await call("served", "hello");
    expect(refused).toMatchObject({ ...REFUSED, record: { guardrail: "service" } });
    expect(JSON.parse(refused.text).error.message).toBe("Theirs.");
  });

  test("is told that the text is given as token ids", async () => {
    await rule("closed", 30_000);
    asked = [];
    judge = () => Response.json({ action: "allow" });
    await call("served", "", { messages: [], prompt_token_ids: [464] });
    expect(asked).toMatchObject([{ texts: [], token_ids: true }]);
  });

  const FAILURES: Record<string, () => Response | Promise<Response>> = {
    "answers too late": () => new Promise(() => undefined),
    "answers with an error": () => Response.json({ action: "allow" }, { status: 500 }),
    "answers in another form": () => Response.json({ action: "perhaps" }),
    "answers with no JSON": () => new Response("allow"),
    "answers with too much": () => new Response(`{"action":"allow","x":"${"x".repeat(70_000)}"}`),
    "sends elsewhere": () => Response.redirect("http://127.0.0.1:9/", 307),
  };

  test.each(Object.keys(FAILURES))("that %s refuses if closed, and passes if open", async (name) => {
    judge = FAILURES[name] ?? judge;
    const timeoutMs = name === "answers too late" ? 200 : 30_000;
    await rule("closed", timeoutMs);
    const refused = await call("served", "hello");
    expect(refused).toMatchObject({ ...REFUSED, record: { guardrail: "service" } });
    expect(JSON.parse(refused.text).error.message).toBe("Ours.");
    await rule("open", timeoutMs);
    expect(await call("served", "hello")).toMatchObject(PASSED);
  });
});
