import { beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { newId } from "#shared/ids.ts";
import { type RawAnswer, rawAnswer, rawConnection, rawPost } from "#test/support/raw-client.ts";
import { type Reply, type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { casesTried } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
/** What the provider does with the next request. */
let play: (reply: Reply) => void | Promise<void> = () => undefined;

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) => play(reply));
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

const SURFACES = [
  { path: "/v1/chat/completions", model: "gpt-4o" },
  { path: "/v1/messages", model: "claude-opus-4-6" },
] as const;
const [CHAT, MESSAGES] = SURFACES;

const request = (path: string, body: object, headers: Record<string, string> = {}) =>
  rawPost(path, { authorization: `Bearer ${gateway.secret}`, ...headers }, JSON.stringify(body));
const call = (
  { path, model }: (typeof SURFACES)[number] = CHAT,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<RawAnswer> => rawAnswer(gateway.url, request(path, { model, ...body }, headers));

const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** A complete answer with a length. */
const bytesReply =
  (bytes: Uint8Array, headers: Record<string, string>, status = 200) =>
  (reply: Reply) => {
    const lines = Object.entries({ "content-length": String(bytes.byteLength), ...headers });
    reply.raw(
      `HTTP/1.1 ${status} Scripted\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
    reply.raw(bytes);
  };

/** A chunked answer, cut into pieces of at most `size` bytes. */
const slicedReply = (bytes: Uint8Array, size: number, headers: Record<string, string>) => (reply: Reply) => {
  const { "content-type": type = "text/event-stream", ...others } = headers;
  reply.head(type, 200, others);
  for (let at = 0; at < bytes.byteLength; at += size) {
    const piece = bytes.subarray(at, at + size);
    reply.raw(
      Buffer.concat([Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, Buffer.from("\r\n")]),
    );
  }
  reply.end();
};

const JSON_TYPE = { "content-type": "application/json" };

describe("a plain answer reaches the client byte for byte", () => {
  test.each([0, 1, 1023, 65_536, 1_048_577, 64 * 1024 * 1024])("with %d bytes", async (size) => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    const replies = [slicedReply(bytes, 1_000_000, JSON_TYPE), bytesReply(bytes, JSON_TYPE)];
    // Once is enough for the largest.
    for (const reply of replies.slice(size > 2 ** 25 ? 1 : 0)) {
      play = reply;
      // A bare socket would join these bytes again and again.
      const answer = await fetch(gateway.url + CHAT.path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.secret}` },
        body: JSON.stringify({ model: CHAT.model }),
      });
      const got = await answer.bytes();
      expect([answer.status, got.byteLength, sha256(got)]).toEqual([200, size, sha256(bytes)]);
    }
  });

  test.each(["gzip", "GZip", "x-gzip", "br", "Identity", "x-unknown"])(
    "in the coding %s, with the header that says so",
    async (coding) => {
      const usage = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
      const plain = Buffer.from(JSON.stringify({ id: "é", choices: [], usage }));
      const bytes = /gzip/i.test(coding)
        ? gzipSync(plain)
        : coding === "br"
          ? brotliCompressSync(plain)
          : plain;
      const session = newId();
      play = bytesReply(bytes, { ...JSON_TYPE, "content-encoding": coding });
      const answer = await call(CHAT, {}, { "x-session-id": session });
      expect(answer.headers.get("content-encoding")).toEqual([coding]);
      expect(answer.body.equals(bytes)).toBe(true);
      const [row] = await gateway.records(session);
      const known = coding !== "x-unknown";
      expect(row).toMatchObject({
        state: "ok",
        input_tokens: known ? 4 : null,
        output_tokens: known ? 3 : null,
        unpriced: !known,
      });
    },
  );

  test.each([
    200, 201, 202, 400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 451, 500, 501, 502, 503, 529, 599,
  ])("and with its status %d", async (status) => {
    const body = Buffer.from(`{ "error" : {"type":"é","n":1.0} }`);
    play = bytesReply(body, JSON_TYPE, status);
    for (const surface of SURFACES) {
      const answer = await call(surface);
      expect([answer.status, answer.whole, answer.body.toString()]).toEqual([status, true, body.toString()]);
    }
  });

  test("also where it has no body, and where its type is another than asked for", async () => {
    play = (reply) => reply.raw("HTTP/1.1 204 Nothing\r\n\r\n");
    expect(await call()).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    play = bytesReply(Buffer.from("<html>é</html>"), { "content-type": "text/html; charset=utf-8" }, 502);
    const answer = await call();
    expect([answer.status, answer.body.toString()]).toEqual([502, "<html>é</html>"]);
    expect(answer.headers.get("content-type")).toEqual(["text/html; charset=utf-8"]);
  });
});

const CHUNK = (content: string) => JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] });
const USAGE = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
const USAGE_ONLY = JSON.stringify({ id: "c", choices: [], usage: USAGE });

/** A stream of the chat wire, its lines ended by `eol`. */
const chatStream = (eol: string, { bom = "", comments = false, usage = true } = {}): Buffer => {
  const events = [CHUNK("Grüße 👋"), CHUNK("\r\n\u2028"), ...(usage ? [USAGE_ONLY] : []), "[DONE]"];
  const comment = comments ? `: keep-alive${eol}:${eol}event: delta${eol}id: 7${eol}retry: 10${eol}` : "";
  return Buffer.from(bom + events.map((data) => `${comment}data: ${data}${eol}${eol}`).join(""));
};

const FORMS = {
  LF: chatStream("\n"),
  "CR LF": chatStream("\r\n"),
  CR: chatStream("\r"),
  "a byte order mark": chatStream("\n", { bom: "\uFEFF" }),
  "comments and other fields": chatStream("\n", { comments: true }),
  "no blank after the colon": Buffer.from(chatStream("\n").toString().replaceAll("data: ", "data:")),
  "data over several lines": Buffer.from(
    `data: {"choices":\ndata: [],"usage":\ndata: ${JSON.stringify(USAGE)}}\n\ndata: [DONE]\n\n`,
  ),
} satisfies Record<string, Buffer>;
const STREAM_TYPE = { "content-type": "text/event-stream; charset=utf-8" };
const ASKED = { stream: true, stream_options: { include_usage: true } };

describe("a stream whose usage the client asked for reaches it byte for byte, and is metered,", () => {
  test.each(
    Object.entries(FORMS).flatMap(([form, bytes]) => [1, 7, 100_000].map((size) => ({ form, bytes, size }))),
  )("with $form, in pieces of $size bytes", async ({ bytes, size }) => {
    const session = newId();
    play = slicedReply(bytes, size, STREAM_TYPE);
    const answer = await call(CHAT, ASKED, { "x-session-id": session });
    expect([answer.status, answer.whole]).toEqual([200, true]);
    expect(answer.body.toString()).toBe(bytes.toString());
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({
      state: "ok",
      input_tokens: 4,
      output_tokens: 3,
      usage_source: "provider",
      unpriced: false,
    });
  });

  test("whatever bytes it holds, as long as its terminal event comes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 50 }),
        async (noise, size) => {
          const bytes = Buffer.concat([noise, Buffer.from("\n\ndata: [DONE]\n\n")]);
          play = slicedReply(bytes, size, STREAM_TYPE);
          const answer = await call(CHAT, ASKED);
          expect(answer.whole).toBe(true);
          expect(answer.body.equals(bytes)).toBe(true);
        },
      ),
      { numRuns: casesTried(20, 60) },
    );
  });

  test("also compressed, and without chunks or length", async () => {
    const session = newId();
    const bytes = gzipSync(FORMS.LF);
    play = slicedReply(bytes, 9, { ...STREAM_TYPE, "content-encoding": "gzip" });
    const compressed = await call(CHAT, ASKED, { "x-session-id": session });
    expect(compressed.body.equals(bytes)).toBe(true);
    play = (reply) => {
      reply.raw(
        Buffer.concat([
          Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"),
          FORMS.LF,
        ]),
      );
      reply.close();
    };
    const unframed = await call(CHAT, ASKED, { "x-session-id": session });
    expect([unframed.whole, unframed.body.toString()]).toEqual([true, FORMS.LF.toString()]);
    for (const row of await gateway.records(session, 2)) {
      expect(row).toMatchObject({ state: "ok", input_tokens: 4, output_tokens: 3 });
    }
  });
});

describe("a stream whose usage only the gateway asked for lacks that one event and no other byte,", () => {
  test.each((["\n", "\r\n", "\r"] as const).flatMap((eol) => [1, 7, 100_000].map((size) => ({ eol, size }))))(
    "with line ends %j",
    async ({ eol, size }) => {
      const session = newId();
      play = slicedReply(chatStream(eol), size, STREAM_TYPE);
      const answer = await call(CHAT, { stream: true }, { "x-session-id": session });
      expect([answer.whole, answer.body.toString()]).toEqual([
        true,
        chatStream(eol, { usage: false }).toString(),
      ]);
      const [row] = await gateway.records(session);
      expect(row).toMatchObject({ state: "ok", input_tokens: 4, output_tokens: 3, unpriced: false });
    },
  );

  test("also where the provider spells the type in capitals", async () => {
    const session = newId();
    play = slicedReply(chatStream("\n"), 100_000, { "content-type": "Text/Event-Stream" });
    const answer = await call(CHAT, { stream: true }, { "x-session-id": session });
    expect(answer.body.toString()).toBe(chatStream("\n", { usage: false }).toString());
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ state: "ok", input_tokens: 4, output_tokens: 3, unpriced: false });
  });

  test("and on the messages wire lacks nothing", async () => {
    const events = [
      {
        type: "message_start",
        message: { id: "m", model: "claude-opus-4-6", usage: { input_tokens: 9, output_tokens: 1 } },
      },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "é" } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 6 } },
      { type: "message_stop" },
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    for (const size of [1, 11, 100_000]) {
      const session = newId();
      play = slicedReply(Buffer.from(text), size, STREAM_TYPE);
      const answer = await call(MESSAGES, { stream: true }, { "x-session-id": session });
      expect([answer.whole, answer.body.toString()]).toEqual([true, text]);
      const [row] = await gateway.records(session);
      expect(row).toMatchObject({ state: "ok", input_tokens: 9, output_tokens: 6 });
    }
  });
});

describe("an event reaches the client when the provider sends it", () => {
  test("also where the gateway looks out for a usage event", async () => {
    let next = Promise.withResolvers<void>();
    play = async (reply) => {
      reply.head("text/event-stream");
      for (const content of ["one", "two", "three"]) {
        reply.chunk(`data: ${CHUNK(content)}\n\n`);
        await next.promise;
        next = Promise.withResolvers();
      }
      reply.chunk(`data: ${USAGE_ONLY}\n\ndata: [DONE]\n\n`);
      reply.end();
    };
    const connection = rawConnection(gateway.url, request(CHAT.path, { model: CHAT.model, stream: true }));
    for (const content of ["one", "two", "three"]) {
      await until(() => connection.bytes().includes(content));
      next.resolve();
    }
    const answer = await connection.answer();
    expect(answer.body.toString()).not.toContain("usage");
    expect(answer.body.toString()).toEndWith("data: [DONE]\n\n");
  });
});

describe("answer headers:", () => {
  const PASSED = {
    "cache-control": "no-cache",
    "retry-after": "7",
    "retry-after-ms": "7000",
    "x-should-retry": "true",
    "x-request-id": "req_1",
    "request-id": "req_2",
    "x-ratelimit-limit-requests": "60",
    "ratelimit-remaining": "3",
    "anthropic-ratelimit-tokens-remaining": "9",
    "openai-processing-ms": "12",
  };
  const DROPPED = {
    "set-cookie": "session=stolen; Path=/",
    "openai-organization": "org-secret",
    "anthropic-organization-id": "org-secret",
    "x-gateway-guardrail": "soft-deny",
    "strict-transport-security": "max-age=1",
    "access-control-allow-origin": "*",
    "alt-svc": "h3=:443",
    "www-authenticate": "Basic",
    "x-powered-by": "vendor",
    "cf-ray": "abc",
    location: "https://evil.example",
    refresh: "0; url=https://evil.example",
    server: "vendor",
    via: "1.1 vendor",
    "keep-alive": "timeout=1",
  };

  test.each(SURFACES)("the client of $path gets those of the list and no others", async (surface) => {
    for (const stream of [false, true]) {
      const type = stream ? "text/event-stream" : "application/json";
      play = bytesReply(FORMS.LF, { "content-type": type, ...PASSED, ...DROPPED });
      const { headers } = await call(surface, { stream });
      for (const [name, value] of Object.entries(PASSED))
        expect([name, headers.get(name)]).toEqual([name, [value]]);
      for (const name of Object.keys(DROPPED)) expect([name, headers.has(name)]).toEqual([name, false]);
      const expected = [
        ...Object.keys(PASSED),
        "content-type",
        "date",
        "x-content-type-options",
        "x-gateway-request-id",
        "content-length",
        "transfer-encoding",
        "connection",
      ];
      expect([...headers.keys()].filter((name) => !expected.includes(name))).toEqual([]);
    }
  });

  test("the provider's call id is what the client gets and what the record has", async () => {
    const session = newId();
    play = bytesReply(Buffer.from("{}"), { ...JSON_TYPE, "X-Request-Id": "req_abc" });
    await call(CHAT, {}, { "x-session-id": session });
    const [row] = await gateway.records(session);
    expect(row?.provider_request_id).toBe("req_abc");
  });
});

describe("a redirect is not followed:", () => {
  test.each([301, 302, 303, 307, 308])(
    "%d is answered with 502, and neither prompt nor key go elsewhere",
    async (status) => {
      const before = upstream.seen.length;
      play = bytesReply(new Uint8Array(), { location: `${upstream.url}/elsewhere` }, status);
      for (const surface of SURFACES) {
        const answer = await call(surface);
        expect(answer.status).toBe(502);
        expect(answer.headers.has("location")).toBe(false);
      }
      const paths = upstream.seen.slice(before).map(({ path }) => path);
      expect(paths).toEqual(["/v1/chat/completions", "/v1/messages"]);
    },
  );
});
