import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type AddressInfo,
  connect as connectTo,
  createServer as createPlainServer,
  type Socket,
} from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createServer } from "node:tls";
import OpenAI, { AzureOpenAI } from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { RealtimeClientEvent } from "openai/resources/realtime/realtime";
import { createOutboundSocket } from "#gateway/upstream/outbound-socket.ts";
import { realtimeSession } from "#gateway/upstream/realtime-session.ts";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { until } from "#test/support/until.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// OpenAI's realtime API by its own client, at a stand-in that answers as the vendor's reference says.

const MODEL = "gpt-realtime";
const USAGE = {
  ...{ total_tokens: 1300, input_tokens: 1000, output_tokens: 300 },
  input_token_details: {
    ...{ text_tokens: 400, audio_tokens: 600, image_tokens: 0, cached_tokens: 500 },
    cached_tokens_details: { text_tokens: 300, audio_tokens: 200, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 100, audio_tokens: 200 },
};
// Of OpenAI's list: text 4, audio 32, cached 0.4, output 16, audio output 64 dollars a million.
const COST = (100 * 4 + 400 * 32 + 500 * 0.4 + 100 * 16 + 200 * 64) / 1e6;

const vendor = {
  handshakes: [] as { url: string; headers: Headers }[],
  messages: [] as { type: string }[],
  sent: [] as string[],
  /** Whether handshakes are taken, and how long a response takes. */
  served: true,
  delayMs: 0,
  /** How long until a response begins, and until a transcription is there. */
  beginMs: 0,
  transcribeMs: 0,
};
let made = 0;
/** Sound that has a long answer. */
const LOUD = "bG91ZA==";

type Kept = {
  session: Record<string, unknown> & { audio?: { input?: { transcription?: object } } };
  cancelled: Set<string>;
};
const server = Bun.serve<Kept>({
  hostname: "127.0.0.1",
  port: 0,
  fetch(http, self) {
    const { pathname, search } = new URL(http.url);
    if (!vendor.served || !/^(?:\/openai)?\/v1\/realtime$/.test(pathname))
      return new Response(null, { status: 404 });
    vendor.handshakes.push({ url: pathname + search, headers: new Headers(http.headers) });
    const session = { type: "realtime", model: MODEL, max_output_tokens: "inf" };
    return self.upgrade(http, { data: { session, cancelled: new Set<string>() } })
      ? undefined
      : new Response(null, { status: 400 });
  },
  websocket: {
    open: (socket) => put(socket, { type: "session.created", session: socket.data.session }),
    message: (socket, text) => void answerTo(socket, String(text)),
  },
});
atEnd(() => server.stop(true));

function put(socket: Bun.ServerWebSocket<Kept>, event: object) {
  made += 1;
  const text = JSON.stringify({ event_id: `event_${made}`, ...event });
  vendor.sent.push(text);
  socket.send(text);
}

async function answerTo(socket: Bun.ServerWebSocket<Kept>, text: string) {
  const message = JSON.parse(text);
  vendor.messages.push(message);
  if (message.type === "session.update") {
    Object.assign(socket.data.session, message.session);
    put(socket, { type: "session.updated", session: socket.data.session });
  }
  if (message.type === "conversation.item.create")
    put(socket, { type: "conversation.item.added", item: { id: `item_${made}`, ...message.item } });
  if (message.type === "response.cancel") socket.data.cancelled.add(message.response_id);
  if (message.type === "response.create" && message.response?.tool_choice === "broken")
    return put(socket, {
      type: "error",
      error: {
        type: "invalid_request_error",
        code: "invalid_value",
        message: "No.",
        event_id: message.event_id,
      },
    });
  if (message.response?.tool_choice === "active")
    return put(socket, {
      type: "error",
      error: { code: "conversation_already_has_active_response", message: "No.", event_id: null },
    });
  if (message.type === "response.create") await respond(socket);
  if (message.type === "input_audio_buffer.commit")
    put(socket, { type: "error", error: { code: "input_audio_buffer_commit_empty", event_id: null } });
  if (message.type === "input_audio_buffer.append" && message.audio === LOUD)
    for (let part = 0; part < 40; part += 1) {
      put(socket, { type: "response.output_audio.delta", delta: "A".repeat(1 << 20) });
      await Bun.sleep(5);
    }
  // The end of a turn.
  if (message.type === "input_audio_buffer.append" && message.audio === "c3RvcA==") {
    put(socket, { type: "input_audio_buffer.committed", item_id: "item_spoken" });
    const { transcription } = socket.data.session.audio?.input ?? {};
    const transcribed = {
      type: "conversation.item.input_audio_transcription.completed",
      ...{ item_id: "item_spoken", content_index: 0, transcript: "Weather?" },
      usage: {
        ...{ type: "tokens", total_tokens: 110, input_tokens: 100, output_tokens: 10 },
        input_token_details: { text_tokens: 0, audio_tokens: 100 },
      },
    };
    if (transcription) setTimeout(() => put(socket, transcribed), vendor.transcribeMs);
    await respond(socket);
  }
}

async function respond(socket: Bun.ServerWebSocket<Kept>) {
  if (vendor.beginMs > 0) await Bun.sleep(vendor.beginMs);
  made += 1;
  const id = `resp_${made}`;
  const common = { response_id: id, item_id: `item_${made}`, output_index: 0, content_index: 0 };
  put(socket, {
    type: "response.created",
    response: { id, object: "realtime.response", status: "in_progress" },
  });
  put(socket, { type: "response.output_audio_transcript.delta", ...common, delta: "It rains." });
  put(socket, { type: "response.output_audio.delta", ...common, delta: "AAAA" });
  const end = Date.now() + vendor.delayMs;
  while (Date.now() < end && !socket.data.cancelled.has(id)) await Bun.sleep(5);
  const status = socket.data.cancelled.has(id) ? "cancelled" : "completed";
  const response = { id, object: "realtime.response", status, usage: USAGE, output: [] };
  put(socket, { type: "response.done", response });
}

let gateway: WiredGateway;
/** The gateway behind TLS, without which OpenAI's client does not connect. */
let secure: string;

beforeAll(async () => {
  gateway = await wiredGateway({
    chat: `http://127.0.0.1:${server.port}/v1`,
    messages: "http://127.0.0.1:1",
  });
  const file = (name: string) => readFileSync(join(import.meta.dir, "../fixtures/tls", name));
  const port = Number(new URL(gateway.url).port);
  const proxy = createServer(
    { cert: file("model.test.cert.pem"), key: file("model.test.key.pem") },
    (socket) => {
      const inner = connectTo(port, "127.0.0.1");
      socket.pipe(inner).pipe(socket);
      for (const one of [socket, inner]) one.on("error", () => [socket, inner].map((it) => it.destroy()));
    },
  );
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  atEnd(() => void proxy.close());
  secure = `https://127.0.0.1:${(proxy.address() as { port: number }).port}`;
});
beforeEach(() => {
  Object.assign(vendor, { handshakes: [], messages: [], sent: [], served: true, delayMs: 0 });
  Object.assign(vendor, { beginMs: 0, transcribeMs: 0 });
});

type Connecting = { secret?: string; model?: string; headers?: Record<string, string>; azure?: boolean };

async function connect({ secret = gateway.secret, model = MODEL, headers = {}, azure }: Connecting = {}) {
  const session = newId();
  const options = { rejectUnauthorized: false, headers: { "x-session-id": session, ...headers } };
  const realtime = azure
    ? await OpenAIRealtimeWS.azure(
        new AzureOpenAI({ endpoint: secure, apiKey: secret, apiVersion: "2025-03-01-preview" }),
        { deploymentName: model, options },
      )
    : new OpenAIRealtimeWS({ model, options }, new OpenAI({ apiKey: secret, baseURL: `${secure}/v1` }));
  const events: { type: string }[] = [];
  const raw: string[] = [];
  let closed: number | null = null;
  realtime.on("event", (event) => events.push(event));
  realtime.on("error", () => undefined);
  realtime.socket.on("message", (data) => raw.push(String(data)));
  realtime.socket.on("close", (code) => {
    closed = code;
  });
  atEnd(() => realtime.close());
  await until(() => raw.length > 0);
  const seen = (type: string) => events.filter((event) => event.type === type);
  return {
    ...{ session, realtime, events, raw, seen },
    closed: () => closed,
    send: (event: RealtimeClientEvent) => realtime.send(event),
    first: async (type: string, count = 1) => {
      await until(() => seen(type).length >= count);
      // Any event has some of these members.
      return seen(type)[count - 1] as { status?: number; error?: object };
    },
  };
}

const says = (text: string): RealtimeClientEvent => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
});
const spoken = { type: "input_audio_buffer.append", audio: "c3RvcA==" } as const;
const RECORDED = { state: "ok", model: MODEL, streamed: true, unpriced: false, partial: false };

test("passes both ways as it is, and each response is one record with its text, audio and cached tokens", async () => {
  const it = await connect({ headers: { "x-client": "my-agent", "x-tags": "nightly" } });
  it.send({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
  it.send({ type: "input_audio_buffer.append", audio: "AAAA" });
  for (const count of [1, 2]) {
    it.send(says("Weather?"));
    it.send({ type: "response.create" });
    await it.first("response.done", count);
  }
  expect(it.raw).toEqual(vendor.sent);
  expect(vendor.messages.map(({ type }) => type)).toEqual([
    "session.update",
    "input_audio_buffer.append",
    ...["conversation.item.create", "response.create"],
    ...["conversation.item.create", "response.create"],
  ]);
  const [{ url, headers } = { url: "", headers: new Headers() }] = vendor.handshakes;
  expect([url, headers.get("authorization")]).toEqual([
    `/v1/realtime?model=${MODEL}`,
    `Bearer ${VENDOR_CREDENTIAL}`,
  ]);
  expect([...headers.keys()].filter((name) => name.startsWith("x-"))).toEqual([]);
  const records = await gateway.records(it.session, 2);
  expect(records).toHaveLength(2);
  for (const record of records) {
    expect(record).toMatchObject({
      ...{ ...RECORDED, client: "my-agent", tags: ["nightly"], surface: "realtime" },
      ...{
        input_tokens: 1000,
        cache_read_tokens: 500,
        audio_input_tokens: 600,
        cache_read_audio_tokens: 200,
      },
      ...{ output_tokens: 300, audio_output_tokens: 200 },
    });
    expect(Number(record.cost_usd)).toBeCloseTo(COST, 9);
  }
});

test("a response that the vendor begins by itself, and what it transcribes, are recorded, too", async () => {
  const it = await connect();
  const input = { transcription: { model: "gpt-4o-transcribe" } };
  it.send({ type: "session.update", session: { type: "realtime", audio: { input } } });
  await it.first("session.updated");
  it.send(spoken);
  await it.first("response.done");
  const records = await gateway.records(it.session, 2);
  expect(records.map(({ model, cost_usd }) => [model, Number(cost_usd)]).toSorted()).toEqual([
    ["gpt-4o-transcribe", (100 * 6 + 10 * 10) / 1e6],
    [MODEL, expect.closeTo(COST, 9)],
  ]);
});

test("Azure's client reaches it at Azure's address", async () => {
  const it = await connect({ azure: true });
  it.send({ type: "response.create" });
  await it.first("response.done");
  expect(await gateway.records(it.session)).toMatchObject([RECORDED]);
});

test("an error of the vendor's passes, and is the response's record", async () => {
  const it = await connect();
  it.send({ type: "response.create", event_id: "mine", response: { tool_choice: "broken" as never } });
  expect((await it.first("error")).error).toMatchObject({ code: "invalid_value" });
  expect(it.seen("error")).toHaveLength(1);
  expect(await gateway.records(it.session)).toMatchObject([{ state: "upstream_error" }]);
  it.send({ type: "response.create" });
  await it.first("response.done");
});

test("an error of another message leaves a response that has not begun yet alone", async () => {
  vendor.beginMs = 200;
  const it = await connect();
  it.send({ type: "response.create" });
  it.send({ type: "input_audio_buffer.commit" });
  await it.first("error");
  await it.first("response.done");
  expect(await gateway.records(it.session)).toMatchObject([RECORDED]);
});

test("a response that the vendor refuses since one runs is recorded, though its error names no message", async () => {
  const it = await connect();
  it.send({ type: "response.create", response: { tool_choice: "active" as never } });
  await it.first("error");
  expect(await gateway.records(it.session)).toMatchObject([{ state: "upstream_error" }]);
});

test("a transcription that comes after the client has left is recorded", async () => {
  vendor.transcribeMs = 300;
  const it = await connect();
  const input = { transcription: { model: "gpt-4o-transcribe" } };
  it.send({ type: "session.update", session: { type: "realtime", audio: { input } } });
  await it.first("session.updated");
  it.send(spoken);
  await it.first("response.done");
  it.realtime.close();
  const records = await gateway.records(it.session, 2);
  expect(records.map(({ model }) => model).toSorted()).toEqual(["gpt-4o-transcribe", MODEL]);
});

test("a client that reads nothing for a while gets every event, also if some are the gateway's own", async () => {
  const client = connectTo(Number(new URL(gateway.url).port), "127.0.0.1");
  atEnd(() => void client.destroy());
  const send = (text: string) =>
    client.write(Buffer.concat([Buffer.from([0x81, 0x80 + text.length, 0, 0, 0, 0]), Buffer.from(text)]));
  const upgrade = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13";
  const key = `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${gateway.secret}`;
  client.write(`GET /v1/realtime?model=${MODEL} HTTP/1.1\r\nhost: gateway\r\n${upgrade}\r\n${key}\r\n\r\n`);
  await new Promise((resolve) => client.once("data", resolve));
  client.pause();
  send(JSON.stringify({ type: "input_audio_buffer.append", audio: LOUD }));
  for (let count = 0; count < 4; count += 1) send("{");
  let got = 0;
  client.on("data", ({ length }) => {
    got += length;
  });
  client.resume();
  await until(() => got > 40 * (1 << 20));
});

describe("the provider's side", () => {
  const nothing = () => undefined;
  /** A session with a provider's socket of which the test has the other end, which answers nothing by itself. */
  async function session(waitMs?: number) {
    const far = Promise.withResolvers<Socket>();
    const provider = createPlainServer((socket) => {
      socket.on("error", nothing).once("data", (head) => {
        const key = /sec-websocket-key: (.*)\r/i.exec(String(head))?.[1];
        const accepted = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
        const upgraded = "HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n";
        socket.write(`${upgraded}sec-websocket-accept: ${accepted.digest("base64")}\r\n\r\n`);
        socket.pause();
        far.resolve(socket);
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    atEnd(() => void provider.close());
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const guard = {
      resolveOrigin: async () => [{ origin: url, host: "model.test", serverName: "model.test" }],
    };
    const open = createOutboundSocket(guard as never);
    const signal = new AbortController().signal;
    const socket = await open({ url, allowPrivateNetwork: true, headers: {}, signal });
    if (!socket) throw new Error("not connected");
    const ended = Promise.withResolvers<void>();
    const on = { event: nothing, settings: nothing, begun: nothing, transcribed: nothing };
    const events = { ...on, transcribes: () => false, ended: ended.resolve };
    return {
      it: realtimeSession(socket, events, waitMs),
      socket,
      far: await far.promise,
      ended: ended.promise,
    };
  }

  test("is closed once a response that had not begun when the client left is given up", async () => {
    const { it, far, socket } = await session();
    const call = new AbortController();
    const asked = it.ask('{"type":"response.create"}', null, call.signal).catch(() => "given up");
    it.leave();
    expect(socket.readyState).toBe(1);
    call.abort();
    expect(await asked).toBe("given up");
    await until(() => socket.readyState >= 2);
    far.destroy();
  });

  test("is ended some time after the client left, though its response never ends", async () => {
    const { it, ended } = await session(50);
    const asked = it.ask('{"type":"response.create"}', null, new AbortController().signal);
    it.leave();
    await ended;
    expect(await asked.catch(() => "failed")).toBe("failed");
  });

  test("takes no more while it reads nothing of what was sent", async () => {
    const { it, far } = await session();
    for (let count = 0; count < 16; count += 1) it.send("A".repeat(1 << 20));
    const ready = it.ready();
    await setImmediate();
    expect(Bun.peek.status(ready)).toBe("pending");
    far.resume();
    await ready;
    far.destroy();
  });
});

describe("is refused", () => {
  const key = (body: object) =>
    gateway.admin<{ secret: string; id: string }>("POST", "/keys", { name: newId(), ...body });
  const status = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${gateway.url}${path}`, {
      ...init,
      headers: {
        ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
        ...{ "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", ...headers },
      },
    }).then(async (answer) => [answer.status, (await answer.text()).slice(0, 300)] as const);

  test("before the upgrade: without a key or a model, for a model out of scope, and where the vendor refuses", async () => {
    const bearer = (secret = gateway.secret) => ({ authorization: `Bearer ${secret}` });
    const path = `/v1/realtime?model=${MODEL}`;
    expect((await status(path, {}))[0]).toBe(401);
    expect((await status("/v1/realtime", bearer()))[0]).toBe(400);
    const { secret } = await key({ scopes: { models: ["gpt-4o"] } });
    expect((await status(path, bearer(secret)))[0]).toBe(403);
    vendor.served = false;
    expect((await status(path, bearer()))[0]).toBe(502);
    expect(vendor.handshakes).toEqual([]);
    const plain = await fetch(gateway.url + path, { headers: bearer() });
    expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
  });

  test("what would bypass the gateway, in a sentence", async () => {
    const openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const asked = openai.realtime.clientSecrets.create({ session: { type: "realtime", model: MODEL } });
    expect(await asked.catch(({ status: code, message }) => [code, message])).toEqual([
      400,
      expect.stringContaining("WebSocket"),
    ]);
  });

  test("a text that a guardrail blocks, which does not reach the vendor", async () => {
    const rule = { match: { pattern: "launch code" }, mode: "enforce", action: "soft_deny" };
    await gateway.admin("PUT", "/guardrails/codes", rule);
    const it = await connect();
    it.send({ ...says("the launch code"), event_id: "mine" });
    expect(await it.first("error")).toMatchObject({
      event_id: expect.stringMatching(/^event_\w+$/),
      error: { type: "guardrail_blocked", event_id: "mine" },
    });
    it.send({ type: "response.create", response: { instructions: "Say the launch code." } });
    expect((await it.first("error", 2)).error).toMatchObject({ event_id: null });
    await gateway.admin("DELETE", "/guardrails/codes");
    expect(vendor.messages).toEqual([]);
    expect(await gateway.records(it.session)).toMatchObject([
      { state: "denied", error_type: "guardrail_blocked" },
    ]);
    it.send({ type: "response.create" });
    await it.first("response.done");
  });

  test("a model of the session's that the key may not use", async () => {
    const { secret } = await key({ scopes: { models: [MODEL] } });
    const it = await connect({ secret });
    const input = { transcription: { model: "whisper-1" } };
    it.send({ type: "session.update", session: { type: "realtime", audio: { input } } });
    expect((await it.first("error")).error).toMatchObject({ code: "model_not_allowed" });
    expect(vendor.messages).toEqual([]);
  });

  test("over a budget, which each response reserves; what the vendor begins by itself then ends the connection", async () => {
    const { secret } = await key({ limits: { budget_usd: "0.02" } });
    const it = await connect({ secret });
    const small = { type: "response.create", response: { max_output_tokens: 50 } } as const;
    it.send(small);
    expect((await it.first("error")).status).toBe(402);
    expect(vendor.messages).toEqual([]);
    it.send(spoken);
    await until(() => it.closed() === 1008);
    expect(vendor.messages.map(({ type }) => type)).toEqual(["input_audio_buffer.append", "response.cancel"]);
    const refused = { state: "denied", error_type: "budget_exhausted", status: 402 };
    const [mine, vendors] = (await gateway.records(it.session, 2)).toSorted(
      (a, b) => Number(a.cost_usd) - Number(b.cost_usd),
    );
    expect(mine).toMatchObject({ ...refused, cost_usd: "0" });
    // The vendor bills what it had begun.
    expect(vendors).toMatchObject({ ...refused, input_tokens: 1000, output_tokens: 300 });
    expect(Number(vendors?.cost_usd)).toBeCloseTo(COST, 9);
  });

  test("what the vendor begins and transcribes over a budget is recorded once with its bill, though it takes long", async () => {
    vendor.delayMs = 60_000;
    const { secret } = await key({ limits: { budget_usd: "0.000001" } });
    const it = await connect({ secret });
    const input = { transcription: { model: "gpt-4o-transcribe" } };
    it.send({ type: "session.update", session: { type: "realtime", audio: { input } } });
    await it.first("session.updated");
    it.send(spoken);
    await until(() => it.closed() === 1008);
    const records = await gateway.records(it.session, 2);
    expect(records.map(({ model, state, cost_usd }) => [model, state, Number(cost_usd)]).toSorted()).toEqual([
      ["gpt-4o-transcribe", "denied", (100 * 6 + 10 * 10) / 1e6],
      [MODEL, "denied", expect.closeTo(COST, 9)],
    ]);
  });

  test("a key that was revoked meanwhile", async () => {
    const { id, secret } = await key({});
    const it = await connect({ secret });
    await it.first("session.created");
    await gateway.admin("DELETE", `/keys/${id}`);
    it.send({ type: "response.create" });
    expect((await it.first("error")).status).toBe(401);
  });
});

test("a client that leaves in the midst of a response is recorded once, with the vendor's own figures", async () => {
  vendor.delayMs = 60_000;
  const it = await connect();
  it.send({ type: "response.create" });
  await it.first("response.output_audio.delta");
  it.realtime.close();
  expect(await gateway.records(it.session)).toMatchObject([{ state: "client_gone", input_tokens: 1000 }]);
  expect(vendor.messages.map(({ type }) => type)).toEqual(["response.create", "response.cancel"]);
});

test("a gateway that stops closes idle connections, and others once their response has ended", async () => {
  vendor.delayMs = 300;
  const it = await connect();
  it.send({ type: "response.create" });
  await it.first("response.created");
  await Promise.all([gateway.stop(), it.first("response.done")]);
  await until(() => it.closed() !== null);
  expect(await gateway.records(it.session)).toMatchObject([RECORDED]);
});
