import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { freePort } from "#test/support/ports.ts";
import { type RawAnswer, rawAnswer, rawPost } from "#test/support/raw-client.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let play: (reply: Reply, request: SeenRequest) => void | Promise<void> = () => undefined;

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => play(reply, request));
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

const post = (session: string, path: string, body: object) =>
  rawPost(
    path,
    { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    JSON.stringify({ messages: [{ role: "user", content: "Hello" }], ...body }),
  );

async function call(path: string, body: object): Promise<{ answer: RawAnswer; row: object; text: string }> {
  const session = newId();
  const answer = await rawAnswer(gateway.url, post(session, path, body));
  const [row] = await gateway.records(session);
  return { answer, row: row ?? {}, text: answer.body.toString() };
}

const CHAT = "/v1/chat/completions";
const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const word = { choices: [{ index: 0, delta: { content: "word" } }] };
const stopped = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const usage = { prompt_tokens: 14, completion_tokens: 33, total_tokens: 47 };

/** A stream whose framing is complete. */
const streamed = (text: string) => (reply: Reply) => {
  reply.head("text/event-stream");
  reply.chunk(text);
  reply.end();
};

const failed = {
  type: "response.failed",
  response: {
    model: "gpt-4o",
    status: "failed",
    error: { code: "server_error", message: "It failed." },
    usage: { input_tokens: 14, output_tokens: 33, total_tokens: 47 },
  },
};
const delta = { type: "response.output_text.delta", delta: "word" };

describe("an error inside an answer with a good status is recorded as the provider's, by its code:", () => {
  test.each([
    {
      name: "response.failed",
      path: "/v1/responses",
      text: events(delta, failed),
      type: "upstream_server_error",
    },
    {
      name: "an error event of responses",
      path: "/v1/responses",
      text: events(delta, { type: "error", code: "rate_limit_exceeded", message: "Slow down." }),
      type: "upstream_rate_limit_exceeded",
    },
    {
      name: "an error event of messages",
      path: "/v1/messages",
      text: `${events({ type: "message_start", message: { model: "claude-opus-4-6", usage: { input_tokens: 1 } } })}event: error\n${events({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}`,
      type: "upstream_overloaded_error",
    },
    {
      name: "an error chunk before [DONE]",
      path: CHAT,
      text: `${events(word, { error: { message: "No more of it, said the secret.", code: 502 } })}data: [DONE]\n\n`,
      type: "upstream_502",
    },
  ])("$name", async ({ path, text, type }) => {
    play = streamed(text);
    const model = path === "/v1/messages" ? "claude-opus-4-6" : "gpt-4o";
    const { answer, row, text: got } = await call(path, { model, stream: true });
    expect([answer.status, got]).toEqual([200, text]);
    expect(row).toMatchObject({ state: "upstream_error", status: 200, error_type: type });
    expect(JSON.stringify(row)).not.toContain("secret");
  });

  test("and its usage is charged", async () => {
    play = streamed(events(delta, failed));
    const { row } = await call("/v1/responses", { model: "gpt-4o", stream: true, input: "Hello" });
    expect(row).toMatchObject({ input_tokens: 14, output_tokens: 33, unpriced: false });
  });

  test("also without a stream", async () => {
    play = (reply) => reply.json({ object: "response", ...failed.response });
    const { row } = await call("/v1/responses", { model: "gpt-4o", input: "Hello" });
    expect(row).toMatchObject({ state: "upstream_error", status: 200, error_type: "upstream_server_error" });
  });
});

describe("a chat stream without [DONE]", () => {
  const asked = { model: "gpt-4o", stream: true, stream_options: { include_usage: true } };

  test("is whole if its framing ended after every choice and the usage", async () => {
    play = streamed(events(word, stopped, { choices: [], usage }));
    const { answer, row } = await call(CHAT, asked);
    expect(answer.whole).toBe(true);
    expect(row).toMatchObject({ state: "ok", error_type: null, output_tokens: 33, partial: false });
  });

  test("is broken if it has no usage, although its framing ended", async () => {
    play = streamed(events(word, stopped));
    const { row } = await call(CHAT, asked);
    expect(row).toMatchObject({
      state: "upstream_broken",
      error_type: "upstream_broken",
      error_cause: "cut",
    });
  });

  test("is broken if its connection was cut, whatever came before", async () => {
    play = async (reply) => {
      reply.head("text/event-stream");
      reply.chunk(events(word, stopped, { choices: [], usage }));
      reply.close();
    };
    const { answer, row } = await call(CHAT, asked);
    expect(answer.whole).toBe(false);
    expect(row).toMatchObject({ state: "upstream_broken", error_cause: "reset" });
  });
});

describe("an answer that no client may get is 502, with its cause in record and message:", () => {
  const head = (status: number, headers: string) =>
    `HTTP/1.1 ${status} Odd\r\n${headers}content-length: 2\r\n\r\n{}`;
  test.each([
    ["bad_status", head(999, "")],
    ["bad_status", head(600, "")],
    ["headers_too_large", head(200, `x-request-id: ${"a".repeat(70_000)}\r\n`)],
    ["headers_too_large", head(200, `x-ratelimit-reset: ${"a".repeat(1_000_000)}\r\n`)],
    ["redirect", head(307, "location: http://127.0.0.1/\r\n")],
  ])("%s", async (cause, raw) => {
    play = (reply) => reply.raw(raw);
    const { answer, row, text } = await call(CHAT, { model: "gpt-4o" });
    expect(answer.status).toBe(502);
    const facts = `(provider chat-vendor, route chat, attempt 1, cause ${cause}).`;
    expect(JSON.parse(text).error.message).toEndWith(facts);
    expect(row).toMatchObject({ state: "upstream_error", status: 502, error_cause: cause, attempts: 1 });
  });
});

describe("a failure names its cause:", () => {
  // Speaks no TLS.
  const plain = Bun.serve({ port: 0, fetch: () => new Response("{}") });
  const plainForTls = `https://127.0.0.1:${plain.port}/v1`;
  afterAll(() => plain.stop(true));
  const reachable = { kind: "openai-compatible", allow_private_network: true };

  test.each([
    ["dns", "http://nobody.invalid/v1", "upstream_unreachable"],
    ["refused", `http://127.0.0.1:${freePort()}/v1`, "upstream_unreachable"],
    ["tls", plainForTls, "upstream_unreachable"],
    ["address_refused", "https://localhost/v1", "upstream_unreachable"],
  ])("%s, in the record, the log and the message of the last attempt", async (cause, base_url, type) => {
    const name = `p-${cause.replace("_", "-")}`;
    const open = cause !== "address_refused";
    await gateway.admin("PUT", `/providers/${name}`, {
      ...reachable,
      allow_private_network: true,
      base_url,
    });
    if (!open) await gateway.sql`update providers set allow_private_network = false where name = ${name}`;
    const target = { provider: name, model: "m" };
    await gateway.admin("PUT", `/routes/r-${name}`, { surface: "chat", ...target, fallbacks: [target] });
    const { answer, row, text } = await call(CHAT, { model: `r-${name}` });
    expect(answer.status).toBe(502);
    expect(JSON.parse(text).error).toEqual({
      message: `The provider could not be reached (provider ${name}, route r-${name}, attempt 2, cause ${cause}).`,
      type: "server_error",
      param: null,
      code: type,
    });
    expect(row).toMatchObject({ error_type: type, error_cause: cause, provider: name, attempts: 2 });
    const logged = () =>
      gateway
        .log()
        .split("\n")
        .filter((line) => line.includes(`"provider":"${name}"`));
    await until(() => logged().length === 2);
    expect(logged().map((line) => JSON.parse(line))).toMatchObject(
      [1, 2].map((attempt) => ({ attempt, cause, route: `r-${name}`, type })),
    );
  });

  test("reset, where the provider may have begun", async () => {
    play = (reply) => reply.reset();
    const { text, row } = await call(CHAT, { model: "gpt-4o" });
    expect(JSON.parse(text).error.message).toContain("cause reset");
    expect(row).toMatchObject({ error_type: "upstream_broken", error_cause: "reset", unpriced: true });
  });

  test("the limits of time are the provider's own, for the first byte and between two", async () => {
    await gateway.admin("PUT", "/providers/slow", {
      ...reachable,
      base_url: `${upstream.url}/v1`,
      first_byte_seconds: 1,
      idle_seconds: 1,
    });
    await gateway.admin("PUT", "/routes/slow", { surface: "chat", provider: "slow", model: "m" });
    play = () => undefined;
    const first = await call(CHAT, { model: "slow" });
    expect(first.answer.status).toBe(504);
    expect(JSON.parse(first.text).error.message).toBe(
      "The provider did not answer in time (provider slow, route slow, attempt 1, cause timeout_first_byte).",
    );
    expect(first.row).toMatchObject({ error_type: "upstream_timeout", error_cause: "timeout_first_byte" });
    play = (reply) => {
      reply.head("text/event-stream");
      reply.chunk(events(word));
    };
    const { answer, row } = await call(CHAT, { model: "slow", stream: true });
    expect([answer.status, answer.whole]).toEqual([200, false]);
    expect(row).toMatchObject({ state: "upstream_broken", error_cause: "timeout_idle" });
  });
});

describe("a fallback in another format", () => {
  const answer = {
    id: "m",
    type: "message",
    role: "assistant",
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const claude = { provider: "messages-vendor", model: "claude-opus-4-6" };
  const chat = { provider: "chat-vendor", model: "gpt-4o" };
  const inexpressible = { logprobs: true };

  test("that cannot express the call leaves the busy provider's answer as it is", async () => {
    await gateway.admin("PUT", "/routes/to-claude", { surface: "chat", ...chat, fallbacks: [claude] });
    const busy = { error: { message: "Busy.", type: "server_error" } };
    play = (reply, { path }) =>
      path.startsWith("/v1/chat") ? reply.json(busy, 503, { "retry-after": "7" }) : reply.json(answer);
    const refused = await call(CHAT, { model: "to-claude", ...inexpressible });
    expect([refused.answer.status, JSON.parse(refused.text)]).toEqual([503, busy]);
    expect(refused.answer.headers.get("retry-after")).toEqual(["7"]);
    expect(refused.row).toMatchObject({ error_type: "upstream_503", attempts: 1, provider: "chat-vendor" });
    // Meanwhile the busy provider is left alone for as long as it asked.
    expect((await call(CHAT, { model: "to-claude" })).row).toMatchObject({
      state: "ok",
      attempts: 1,
      provider: "messages-vendor",
    });
  });

  test("takes the call at once if the first choice cannot express it", async () => {
    await gateway.admin("PUT", "/routes/from-claude", { surface: "chat", ...claude, fallbacks: [chat] });
    play = (reply) => reply.json({ choices: [], usage });
    const { row } = await call(CHAT, { model: "from-claude", ...inexpressible });
    expect(row).toMatchObject({ state: "ok", attempts: 1, provider: "chat-vendor" });
  });

  test("that has no credential leaves the busy provider's answer as it is, too", async () => {
    await gateway.admin("PUT", "/providers/keyless", { kind: "openai" });
    const keyless = { provider: "keyless", model: "gpt-4o" };
    await gateway.admin("PUT", "/routes/to-keyless", { surface: "chat", ...chat, fallbacks: [keyless] });
    play = (reply) => reply.json({ error: {} }, 429, { "retry-after": "9" });
    const { answer: refused, row } = await call(CHAT, { model: "to-keyless" });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, ["9"]]);
    expect(row).toMatchObject({ error_type: "upstream_429", provider: "chat-vendor" });
  });
});
