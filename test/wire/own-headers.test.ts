import { beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The gateway's own headers on answers of metered calls, and what pages of other origins may call.

let gateway: WiredGateway;
const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };

beforeAll(async () => {
  const vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const { stream, messages } = await http.json();
      const said = String(messages[0].content);
      if (said === "refuse") return Response.json({ error: { message: "No." } }, { status: 400 });
      const content = said === "long" ? "x".repeat(200_000) : "Hi";
      const message = { role: "assistant", content };
      const head = { id: "1", model: "gpt-4o", ...(said !== "uncounted" && { usage }) };
      if (!stream) return Response.json({ ...head, choices: [{ index: 0, message, finish_reason: "stop" }] });
      const chunk = JSON.stringify({
        ...head,
        choices: [{ index: 0, delta: message, finish_reason: "stop" }],
      });
      return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  atEnd(() => vendor.stop(true));
  const url = `http://127.0.0.1:${vendor.port}`;
  gateway = await wiredGateway({ chat: `${url}/v1`, messages: url });
});

const call = (
  said: string,
  { path = "/v1/chat/completions", headers = {}, ...more }: Record<string, object | string> = {},
) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, ...(headers as object) },
    body: JSON.stringify({
      model: "chat",
      max_tokens: 9,
      messages: [{ role: "user", content: said }],
      ...more,
    }),
  });

test("every answer of a metered call names its record", async () => {
  const session = newId();
  const headers = { "x-session-id": session };
  const answers = [
    await call("Hi", { headers }),
    await call("Hi", { headers, stream: true as never }),
    await call("refuse", { headers }),
    await call("Hi", { headers, path: "/v1/messages" }),
    await call("Hi", { headers, path: "/v1/messages", container: "c" }),
  ];
  for (const answer of answers) await answer.text();
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200, 400]);
  const rows = (await gateway.records(session, 5)) as unknown as { id: string }[];
  expect(answers.map((answer) => answer.headers.get("x-gateway-request-id"))).toEqual(
    rows.map(({ id }) => id),
  );
});

test("a call without a record has none", async () => {
  const unknown = await call("Hi", { model: "unheard-of" });
  expect([unknown.status, unknown.headers.get("x-gateway-request-id")]).toEqual([404, null]);
});

test("a plain answer tells its cost to a client that asks", async () => {
  const told = async (said: string, more: object = {}) => {
    const answer = await call(said, { headers: { "x-gateway-cost": "1" }, ...more });
    const body = await answer.text();
    return [
      answer.headers.get("x-gateway-cost-usd"),
      answer.headers.get("x-gateway-cost-floor"),
      body.length > 100_000,
    ];
  };
  const cost = "0.0125";
  expect(await told("Hi")).toEqual([cost, null, false]);
  expect(await told("Hi", { path: "/v1/messages" })).toEqual([cost, null, false]);
  expect(await told("long")).toEqual([cost, null, true]);
  expect(await told("refuse")).toEqual(["0", null, false]);
  // Unknown is not 0, and a stream's cost is known at its end only.
  expect(await told("uncounted")).toEqual([null, null, false]);
  expect(await told("Hi", { stream: true })).toEqual([null, null, false]);
  expect((await call("Hi")).headers.get("x-gateway-cost-usd")).toBeNull();
});

test("so do sound, and what the gateway answers itself", async () => {
  for (const [position, action] of (["block", "soft_deny"] as const).entries())
    await gateway.admin("POST", "/guardrails", {
      name: action,
      position,
      match: { tags: [action] },
      action,
      message: "No.",
    });
  const told = async (tag: string, more: object = {}) => {
    const headers = { "x-gateway-cost": "1", "x-tags": tag };
    const answer = await call("Hi", { headers, ...more });
    const [size, cost] = [(await answer.bytes()).length, answer.headers.get("x-gateway-cost-usd")];
    return [answer.status, size > 0, cost];
  };
  expect(await told("block")).toEqual([403, true, "0"]);
  expect(await told("soft_deny")).toEqual([200, true, "0"]);
  expect(await told("soft_deny", { stream: true })).toEqual([200, true, null]);
  const speech = { path: "/v1/audio/speech", model: "tts", input: "Hi", voice: "alloy" };
  expect(await told("none", speech)).toEqual([200, true, expect.stringMatching(/^0\.0+[1-9]/)]);
});

test("pages of other origins may call with a client key, where the settings name their origin", async () => {
  const origin = "https://app.example.com";
  const preflight = (path: string, from = origin) =>
    fetch(gateway.url + path, {
      method: "OPTIONS",
      headers: {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });
  const allowed = (answer: Response) => answer.headers.get("access-control-allow-origin");
  expect(allowed(await preflight("/v1/chat/completions"))).toBeNull();

  await gateway.admin("PATCH", "/settings", { cors_origins: [origin] });
  const opened = await preflight("/v1/chat/completions");
  expect([opened.status, allowed(opened), opened.headers.get("access-control-allow-headers")]).toEqual([
    204,
    origin,
    "authorization, content-type",
  ]);
  expect(opened.headers.get("access-control-allow-credentials")).toBeNull();
  const answer = await call("Hi", { headers: { origin } });
  expect([
    allowed(answer),
    answer.headers.get("vary"),
    answer.headers.get("access-control-expose-headers"),
  ]).toEqual([origin, "origin", "*"]);
  expect(allowed(await call("Hi", { headers: { origin }, model: "unheard-of" }))).toBe(origin);
  expect(allowed(await preflight("/v1beta/models/gemini-3:generateContent"))).toBe(origin);
  for (const path of ["/admin/v1/keys", "/v1/reports", "/v1/me", "/v1/messagesx", "/auth/ways-in", "/"])
    expect([path, allowed(await preflight(path))]).toEqual([path, null]);
  expect(allowed(await preflight("/v1/chat/completions", "https://other.example.com"))).toBeNull();
});
