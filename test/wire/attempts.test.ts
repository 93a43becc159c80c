import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { newId } from "#shared/ids.ts";
import { freePort } from "#test/support/ports.ts";
import { rawAnswer, rawConnection, rawPost } from "#test/support/raw-client.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let noTls: Bun.TCPSocketListener<undefined>;
/** What the first choice does with a request; the fallback always answers. */
let first: (reply: Reply, request: SeenRequest) => void | Promise<void> = () => undefined;

const ANSWER = {
  choices: [{ message: { content: "from the fallback" } }],
  data: [{ b64_json: "aGk=" }],
  usage: { prompt_tokens: 14, completion_tokens: 33, total_tokens: 47 },
};

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) =>
    request.body.includes('"first"') ? first(reply, request) : reply.json(ANSWER),
  );
  noTls = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.end() } });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  const reachable = { allow_private_network: true, enabled: true };
  const kind = "openai-compatible";
  await gateway.admin("PUT", "/providers/nobody", {
    kind,
    base_url: `http://127.0.0.1:${freePort()}/v1`,
    ...reachable,
  });
  // Hangs up on a handshake.
  await gateway.admin("PUT", "/providers/no-tls", {
    kind,
    base_url: `https://127.0.0.1:${noTls.port}/v1`,
    ...reachable,
  });
  await gateway.admin("PUT", "/providers/no-name", {
    kind,
    base_url: "http://nobody.invalid/v1",
    ...reachable,
  });
  const second = { provider: "chat-vendor", model: "second" };
  const routes = [
    { route: "two", surface: "chat", provider: "chat-vendor", fallbacks: [second] },
    { route: "nobody-first", surface: "chat", provider: "nobody", fallbacks: [second] },
    { route: "no-tls-first", surface: "chat", provider: "no-tls", fallbacks: [second] },
    { route: "no-name-first", surface: "chat", provider: "no-name", fallbacks: [second] },
    {
      route: "nobody-at-all",
      surface: "chat",
      provider: "nobody",
      fallbacks: [{ ...second, provider: "no-tls" }],
    },
    {
      route: "cancelling",
      surface: "chat",
      provider: "chat-vendor",
      fallbacks: [second],
      on_client_gone: "cancel",
    },
    { route: "image_generation", surface: "image_generation", provider: "chat-vendor", fallbacks: [second] },
  ];
  for (const { route, ...rest } of routes) {
    await gateway.admin("PUT", `/routes/${route}`, { model: "first", ...rest });
  }
});

/** Nothing is remembered of a provider at a new address: no test finds a target paused by an earlier one. */
let addresses = 0;
beforeEach(async () => {
  addresses += 1;
  await gateway.admin("PATCH", "/providers/chat-vendor", {
    base_url: `${upstream.url}/${addresses}/v1`,
    credential: VENDOR_CREDENTIAL,
  });
  await gateway.admin("PATCH", "/providers/nobody", { base_url: `http://127.0.0.1:${freePort()}/v1` });
});

afterAll(async () => {
  noTls.stop(true);
});

const post = (route: string, session: string, path = "/v1/chat/completions") =>
  rawPost(
    path,
    { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    JSON.stringify({ model: route, prompt: session, messages: [{ role: "user", content: session }] }),
  );

async function call(route: string, path?: string) {
  const session = newId();
  const answer = await rawAnswer(gateway.url, post(route, session, path));
  const rows = await gateway.records(session);
  return { answer, rows, row: rows[0], asked: asked(session), text: answer.body.toString() };
}

/** The models that the provider was asked for, in order. */
const asked = (session: string): string[] =>
  upstream.seen.filter(({ body }) => body.includes(session)).map(({ body }) => JSON.parse(body).model);

describe("a first choice that answers", () => {
  test.each([429, 502, 503, 504, 529])("%d is made good by the fallback, as one record", async (status) => {
    first = (reply) => reply.json({ error: {} }, status, { "retry-after": "60" });
    const { answer, rows, asked, text } = await call("two");
    expect(answer.status).toBe(200);
    expect(text).toBe(JSON.stringify(ANSWER));
    expect(answer.headers.get("retry-after")).toBeUndefined();
    expect(asked).toEqual(["first", "second"]);
    expect(rows.length).toBe(1);
    expect(rows[0]).toMatchObject({ state: "ok", attempts: 2, model: "second", output_tokens: 33 });
  });

  test.each([400, 401, 402, 403, 404, 408, 409, 413, 422, 500, 501])(
    "%d is what the client gets, and nobody else is asked",
    async (status) => {
      const said = { error: { message: `said with ${status}` } };
      first = (reply) => reply.json(said, status);
      const { answer, row, asked, text } = await call("two");
      expect(answer.status).toBe(status);
      expect(text).toBe(JSON.stringify(said));
      expect(asked).toEqual(["first"]);
      expect(row).toMatchObject({
        state: "upstream_error",
        status,
        attempts: 1,
        cost_usd: "0",
        unpriced: false,
      });
    },
  );

  test.each([301, 302, 307, 308])("%d is not followed, and nobody else is asked", async (status) => {
    first = (reply) => reply.json({}, status, { location: `${upstream.url}/elsewhere` });
    const { answer, row, asked } = await call("two");
    expect(answer.status).toBe(502);
    expect(asked).toEqual(["first"]);
    expect(row).toMatchObject({ state: "upstream_error", attempts: 1, error_type: "upstream_unreachable" });
  });

  test("503 to an image is what the client gets: the provider may have begun", async () => {
    first = (reply) => reply.json({ error: {} }, 503, { "retry-after": "7" });
    const { answer, row, asked } = await call("image_generation", "/v1/images/generations");
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toEqual(["7"]);
    expect(asked).toEqual(["first"]);
    expect(row).toMatchObject({ attempts: 1, error_type: "upstream_503" });
  });
});

test("the last one's refusal and its retry advice are what the client gets, unchanged", async () => {
  await gateway.admin("PUT", "/routes/both-busy", {
    surface: "chat",
    provider: "chat-vendor",
    model: "first",
    fallbacks: [{ provider: "chat-vendor", model: "first" }],
  });
  const said = { error: { message: "slow down", code: "rate_limit_exceeded" } };
  first = (reply) =>
    reply.json(said, 429, { "retry-after": "17", "retry-after-ms": "16500", "x-should-retry": "true" });
  const { answer, row, asked, text } = await call("both-busy");
  expect(answer.status).toBe(429);
  expect(text).toBe(JSON.stringify(said));
  expect(answer.headers.get("retry-after")).toEqual(["17"]);
  expect(answer.headers.get("retry-after-ms")).toEqual(["16500"]);
  expect(answer.headers.get("x-should-retry")).toEqual(["true"]);
  expect(asked).toEqual(["first", "first"]);
  expect(row).toMatchObject({ state: "upstream_error", attempts: 2, error_type: "upstream_429" });
});

describe("a first choice that cannot be connected to", () => {
  test.each(["nobody-first", "no-tls-first", "no-name-first"])(
    "is made good by the fallback (%s)",
    async (route) => {
      const { answer, rows, asked } = await call(route);
      expect(answer.status).toBe(200);
      expect(asked).toEqual(["second"]);
      expect(rows.length).toBe(1);
      expect(rows[0]).toMatchObject({ state: "ok", attempts: 2, provider: "chat-vendor", model: "second" });
    },
  );

  test("and whose fallback cannot either, is one refusal and one record without cost", async () => {
    const { answer, rows } = await call("nobody-at-all");
    expect(answer.status).toBe(502);
    expect(rows.length).toBe(1);
    expect(rows[0]).toMatchObject({
      state: "upstream_error",
      attempts: 2,
      error_type: "upstream_unreachable",
      cost_usd: "0",
      unpriced: false,
    });
  });

  test("is made good for an image too: nothing was sent", async () => {
    await gateway.admin("PATCH", "/routes/image_generation", { provider: "nobody" });
    const { answer, asked, row } = await call("image_generation", "/v1/images/generations");
    expect(answer.status).toBe(200);
    expect(asked).toEqual(["second"]);
    expect(row).toMatchObject({ state: "ok", attempts: 2 });
  });
});

test("a first choice that answered a moment ago and is gone now is made good by the fallback", async () => {
  const leaving = await scriptedUpstream((_, reply) => reply.json(ANSWER));
  await gateway.admin("PATCH", "/providers/nobody", { base_url: `${leaving.url}/v1` });
  expect((await call("nobody-first")).row).toMatchObject({ attempts: 1, provider: "nobody" });
  await leaving.close();
  // The first may still meet the connection that was kept: what became of it, nobody can tell.
  await call("nobody-first");
  const { answer, row, asked } = await call("nobody-first");
  expect(answer.status).toBe(200);
  expect(asked).toEqual(["second"]);
  expect(row).toMatchObject({ state: "ok", provider: "chat-vendor" });
});

describe("a first choice that got the request and says nothing", () => {
  test.each(["close", "reset"] as const)("but a %s is not asked again: it may have begun", async (way) => {
    first = (reply) => reply[way]();
    const { answer, row, asked } = await call("two");
    expect(answer.status).toBe(502);
    expect(asked).toEqual(["first"]);
    expect(row).toMatchObject({
      state: "upstream_error",
      attempts: 1,
      error_type: "upstream_broken",
      unpriced: true,
    });
  });
});

describe("a client that leaves before the answer", () => {
  test("has no fallback begun for it", async () => {
    const session = newId();
    const arrived = Promise.withResolvers<Reply>();
    first = (reply) => arrived.resolve(reply);
    const connection = rawConnection(gateway.url, post("two", session));
    const reply = await arrived.promise;
    connection.socket.destroy();
    // The gateway sees the client leave before it hears the refusal.
    await gateway.caughtUp();
    reply.json({ error: {} }, 503);
    const [row] = await gateway.records(session);
    expect(asked(session)).toEqual(["first"]);
    expect(row).toMatchObject({ attempts: 1, status: 503 });
  });

  test("stops the provider where the route says so, and is recorded as gone", async () => {
    const session = newId();
    const arrived = Promise.withResolvers<Reply>();
    first = (reply) => arrived.resolve(reply);
    const connection = rawConnection(gateway.url, post("cancelling", session));
    const reply = await arrived.promise;
    connection.socket.destroy();
    await until(() => reply.gone());
    const [row] = await gateway.records(session);
    expect(asked(session)).toEqual(["first"]);
    expect(row).toMatchObject({ state: "client_gone", status: null, attempts: 1, unpriced: true });
  });
});

test("a body goes out with its length and in one piece, also at a server that reads no chunks", async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
  const plain = createServer((request, response) => {
    resolve(request.headers);
    response.setHeader("content-type", "application/json").end("{}");
  }).listen(0, "127.0.0.1");
  const address = plain.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  await gateway.admin("PATCH", "/providers/nobody", { base_url: `http://127.0.0.1:${port}/v1` });
  await call("nobody-first");
  const headers = await promise;
  expect(Number(headers["content-length"])).toBeGreaterThan(0);
  expect(headers["transfer-encoding"]).toBeUndefined();
  plain.close();
});
