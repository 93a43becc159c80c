import { beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { rawConnection, rawPost } from "#test/support/raw-client.ts";
import { type Reply, type SeenRequest, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const MEBIBYTE = 1024 ** 2;

let gateway: WiredGateway;
const waiting: Reply[] = [];

beforeAll(async () => {
  const upstream = await scriptedUpstream((_request: SeenRequest, reply: Reply) => void waiting.push(reply));
  gateway = await wiredGateway(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { BODIES_BYTES_MAX: String(MEBIBYTE), METRICS_PUBLIC: "true" },
  );
});

const call = (bytes: number, init: RequestInit = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}` },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "x".repeat(bytes) }] }),
    ...init,
  });

const inFlight = async () => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^tallygate_body_bytes_in_flight (\d+)$/m.exec(text)?.[1]);
};

const ANSWER = {
  id: "c",
  object: "chat.completion",
  model: "gpt-5",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

test("over the budget for bodies a call is 503 with a time to wait, until a call before it has ended", async () => {
  const first = call(700_000);
  await until(() => waiting.length === 1);
  expect(await inFlight()).toBeGreaterThan(700_000);

  const refused = await call(700_000);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  expect((await refused.json()).error.code).toBe("bodies_too_many");
  const chunked = await call(0, {
    body: new ReadableStream({
      start(controller) {
        const text = JSON.stringify({
          model: "chat",
          messages: [{ role: "user", content: "x".repeat(700_000) }],
        });
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    }),
  });
  expect(chunked.status).toBe(503);
  expect(waiting).toHaveLength(1);

  waiting[0]?.json(ANSWER);
  expect((await first).status).toBe(200);
  await until(async () => (await inFlight()) === 0);

  const second = call(700_000);
  await until(() => waiting.length === 2);
  waiting[1]?.json(ANSWER);
  expect((await second).status).toBe(200);
});

test("one call alone passes, however large, and a refused one gives back what it took", async () => {
  const alone = call(3 * MEBIBYTE);
  await until(() => waiting.length === 3);
  waiting[2]?.json(ANSWER);
  expect((await alone).status).toBe(200);
  const refused = await call(10, { headers: { authorization: "Bearer nobody" } });
  expect(refused.status).toBe(401);
  expect((await call(10, { body: '{"model":' })).status).toBe(400);
  await until(async () => (await inFlight()) === 0);
});

/** A call of a chat client at a provider of Anthropic's format, whose answer the gateway must have whole. */
const translatedCall = (session: string) => {
  const headers = { authorization: `Bearer ${gateway.secret}`, "x-session-id": session };
  const body = JSON.stringify({ model: "claude", messages: [{ role: "user", content: "long" }] });
  return { headers, body };
};

const longMessage = (bytes: number) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-6",
  content: [{ type: "text", text: "x".repeat(bytes) }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 5 },
});

const LAST_CHUNK = "0\r\n\r\n";

test("translated answers take memory until they are read; one that finds none is 503, and is recorded", async () => {
  const size = 16 * MEBIBYTE;
  const sessions = [newId(), newId()] as const;
  const { headers, body } = translatedCall(sessions[0]);
  const slow = rawConnection(gateway.url, rawPost("/v1/chat/completions", headers, body));
  slow.socket.pause();
  await until(() => waiting.length === 4);
  waiting[3]?.json(longMessage(size));
  await until(async () => (await inFlight()) > size);

  const refused = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    ...translatedCall(sessions[1]),
  });
  // The first one's answer leaves no room for a request either, however short.
  expect((await refused).status).toBe(503);

  let end = "";
  let received = 0;
  slow.socket.on("data", (data) => {
    const part = Buffer.from(data);
    received += part.byteLength;
    end = (end + part.toString("latin1", Math.max(0, part.byteLength - LAST_CHUNK.length))).slice(
      -LAST_CHUNK.length,
    );
  });
  slow.socket.resume();
  await until(() => end === LAST_CHUNK);
  slow.socket.destroy();
  expect(received).toBeGreaterThan(size);
  expect(await gateway.records(sessions[0])).toMatchObject([
    { state: "ok", input_tokens: 3, output_tokens: 5 },
  ]);
  expect(await inFlight()).toBe(0);
});

test("an answer to translate that finds no memory is 503, and its record names the cause", async () => {
  const session = newId();
  const translated = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    ...translatedCall(session),
  });
  await until(() => waiting.length === 5);
  const other = call(700_000);
  await until(() => waiting.length === 6);
  waiting[4]?.json(longMessage(MEBIBYTE));
  const refused = await translated;
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await gateway.records(session)).toMatchObject([
    { state: "upstream_broken", usage_source: "none", error_cause: "no_memory" },
  ]);
  waiting[5]?.json(ANSWER);
  expect((await other).status).toBe(200);
});
