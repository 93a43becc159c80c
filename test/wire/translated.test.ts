import { beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
/** The slow answer goes on after this. */
const left = Promise.withResolvers<void>();

const EVENTS = [
  { type: "message_start", message: { id: "msg_1", model: "claude-opus-4-6", usage: { input_tokens: 5 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-6",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 5, output_tokens: 7 },
};
const COMPLETION = {
  id: "chatcmpl-1",
  model: "gpt-4o",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
};

beforeAll(async () => {
  upstream = await scriptedUpstream(async ({ path, body }, reply) => {
    const word = /say:(\w+)/.exec(body)?.[1];
    const id = { "request-id": "req_vendor" };
    const events = (list: string[]) => {
      reply.head("text/event-stream", 200, id);
      for (const event of list) reply.chunk(event);
    };
    if (path.endsWith("/chat/completions"))
      return reply.json(COMPLETION, 200, { "x-request-id": "req_chat" });
    switch (word) {
      case "whole":
        return reply.json(MESSAGE, 200, id);
      case "gzip": {
        const bytes = gzipSync(JSON.stringify(MESSAGE));
        reply.raw(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`,
        );
        return reply.raw(bytes);
      }
      case "nonsense":
        return reply.json({ hello: "world" });
      case "limited":
        return reply.json({ error: { code: 429, message: "Rate limited upstream." } });
      case "page": {
        const page = "<html>Bad gateway</html>";
        return reply.raw(
          `HTTP/1.1 500 Oops\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\n\r\n${page}`,
        );
      }
      case "busy":
        return reply.json({ type: "error", error: { type: "overloaded_error", message: "Busy." } }, 529, {
          ...id,
          "retry-after": "3",
        });
      case "broken":
        events(EVENTS.slice(0, 3));
        return reply.close();
      case "slow":
        events(EVENTS.slice(0, 3));
        await left.promise;
        for (const event of EVENTS.slice(3)) reply.chunk(event);
        return reply.end();
      default:
        events(EVENTS);
        return reply.end();
    }
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  await gateway.admin("PUT", "/routes/twofold", {
    surface: "chat",
    provider: "messages-vendor",
    model: "claude-opus-4-6",
    fallbacks: [{ provider: "chat-vendor", model: "gpt-4o" }],
  });
});

const ask = (
  word: string,
  it: { session?: string; model?: string; stream?: boolean; signal?: AbortSignal; headers?: object } = {},
) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      "content-type": "application/json",
      "x-session-id": it.session ?? newId(),
      ...it.headers,
    },
    body: JSON.stringify({
      model: it.model ?? "claude",
      messages: [{ role: "user", content: `say:${word}` }],
      stream: it.stream ?? false,
    }),
    ...(it.signal ? { signal: it.signal } : {}),
  });

describe("what goes to a provider of another format", () => {
  test("its own path, version and credential, and nothing that the client said to its own vendor", async () => {
    upstream.seen.length = 0;
    await (
      await ask("whole", {
        headers: { "openai-beta": "x=1", "anthropic-version": "2026-10-21", "idempotency-key": "k" },
      })
    ).text();
    const [seen] = upstream.seen;
    expect(seen?.path).toBe("/v1/messages");
    expect(seen?.headers).toMatchObject({
      "x-api-key": VENDOR_CREDENTIAL,
      "anthropic-version": "2023-06-01",
      "idempotency-key": "k",
      "content-type": "application/json",
    });
    expect(Object.keys(seen?.headers ?? {})).not.toContain("openai-beta");
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith("x-"))).toEqual(["x-api-key"]);
    expect(JSON.parse(seen?.body ?? "")).toMatchObject({ model: "claude-opus-4-6", max_tokens: 64_000 });
  });

  test("a fallback of the surface's own format gets the client's bytes, not a translation", async () => {
    upstream.seen.length = 0;
    const session = newId();
    const answer = await ask("busy", { model: "twofold", session });
    expect(await answer.json()).toEqual(COMPLETION);
    expect(upstream.seen.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/chat/completions"]);
    expect(upstream.seen[1]?.body).toBe(
      `{"model":"gpt-4o","messages":[{"role":"user","content":"say:busy"}],"stream":false}`,
    );
    expect(await gateway.records(session)).toMatchObject([
      { attempts: 2, provider: "chat-vendor", state: "ok" },
    ]);
  });
});

describe("what comes back", () => {
  test.each(["whole", "gzip"])(
    "an answer (%s) in the client's format, under the id that its client reads",
    async (word) => {
      const answer = await ask(word);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.headers.get("content-encoding")).toBeNull();
      if (word === "whole") expect(answer.headers.get("x-request-id")).toBe("req_vendor");
      expect(await answer.json()).toMatchObject({
        object: "chat.completion",
        choices: [{ message: { content: "Hello" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      });
    },
  );

  test("a refusal with its status, its sentence and its retry advice, in the client's shape", async () => {
    const answer = await ask("busy");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([529, "3"]);
    expect(await answer.json()).toEqual({
      error: { message: "Busy.", type: "server_error", param: null, code: "overloaded" },
    });
  });

  test("a refusal that is no JSON says only that there was one", async () => {
    const answer = await ask("page");
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ error: { type: "server_error" } });
    expect(text).not.toContain("html");
  });

  test("a success that is no answer is a broken upstream, and recorded as one", async () => {
    const session = newId();
    expect((await ask("nonsense", { session })).status).toBe(502);
    expect(await gateway.records(session)).toMatchObject([{ state: "upstream_broken", unpriced: true }]);
  });

  test("an error in place of an answer keeps its status and sentence", async () => {
    const session = newId();
    const answer = await ask("limited", { session });
    expect([answer.status, await answer.json()]).toMatchObject([
      429,
      { error: { message: "Rate limited upstream.", code: "rate_limit_exceeded" } },
    ]);
    expect(await gateway.records(session)).toMatchObject([
      { state: "upstream_error", error_type: "upstream_429" },
    ]);
  });

  test("a stream that breaks is never given a clean end", async () => {
    const session = newId();
    const read = ask("broken", { session, stream: true }).then(
      (answer) => answer.text().catch(() => "broken"),
      () => "broken",
    );
    expect(await read).toBe("broken");
    expect(await gateway.records(session)).toMatchObject([{ state: "upstream_broken" }]);
  });

  test("a client that leaves is recorded with the provider's exact figure", async () => {
    const session = newId();
    const leaving = new AbortController();
    const answer = await ask("slow", { session, stream: true, signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await gateway.caughtUp();
    left.resolve();
    expect(await gateway.records(session)).toMatchObject([
      { state: "client_gone", usage_source: "provider", input_tokens: 5, output_tokens: 7, partial: false },
    ]);
  });
});
