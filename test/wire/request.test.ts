import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ERRORS } from "#gateway/errors.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { newId } from "#shared/ids.ts";
import { bodyText, utf8 } from "#test/http/json-text.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type RawAnswer, rawAnswer, rawPost } from "#test/support/raw-client.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { casesTried } from "#test/support/tiers.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const JSON_BYTES_MAX = 65_536;

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) => reply.json({ choices: [], content: [] }));
  gateway = await wiredGateway(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { JSON_BYTES_MAX: String(JSON_BYTES_MAX) },
  );
});

const SURFACES = [
  { path: "/v1/chat/completions", route: "chat", model: "gpt-4o" },
  { path: "/v1/messages", route: "claude", model: "claude-opus-4-6" },
] as const;
const [CHAT] = SURFACES;

const withKey = () => ({ authorization: `Bearer ${gateway.secret}` });
const send = (path: string, headers: Record<string, string>, body: string | Uint8Array): Promise<RawAnswer> =>
  rawAnswer(gateway.url, rawPost(path, headers, body));

/** The request that the provider saw for a call, which must have been the only one. */
async function seenFor(call: () => Promise<RawAnswer>) {
  const before = upstream.seen.length;
  const answer = await call();
  expect(answer.status).toBe(200);
  const seen = upstream.seen.slice(before);
  expect(seen.length).toBe(1);
  return seen[0]!;
}

/** Puts a first member into the text of an object. */
function withMember(text: string, member: string): string {
  const at = text.indexOf("{") + 1;
  const empty = text.slice(at).trim() === "}";
  return text.slice(0, at) + member + (empty ? "" : ",") + text.slice(at);
}

describe.each(SURFACES)("a body of $path", ({ path, route, model }) => {
  // A name that decides may be there once.
  const others = bodyText(["messages", "metadata", "max_tokens", "user", "tools"]).filter((text) =>
    [...scanJson(utf8(text)).members.values()].every(({ length }) => length === 1),
  );

  test("that names a concrete model reaches the provider byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(others, async (text) => {
        const body = withMember(text, `"model" :\t"${model}"`);
        expect((await seenFor(() => send(path, withKey(), body))).body).toBe(body);
      }),
      { numRuns: casesTried(40, 120) },
    );
  });

  test("that names a route reaches the provider with its model there, and no other byte changed", async () => {
    await fc.assert(
      fc.asyncProperty(others, async (text) => {
        const seen = await seenFor(() => send(path, withKey(), withMember(text, `"model":"${route}"`)));
        expect(seen.body).toBe(withMember(text, `"model":"${model}"`));
      }),
      { numRuns: casesTried(20, 60) },
    );
  });

  test.each([
    ["integers beyond a double", `{"model":"${model}","seed":123456789012345678901234567890}`],
    ["an exponent beyond a double, and a fraction of zeros", `{"model":"${model}","a":1e400,"b":1.000}`],
    ["the same member twice", `{"model":"${model}","a":1,"a":2}`],
    ["escapes of every kind", `{"model":"${model}","a":"\\u00e9\\ud83d\\ude00\\/\\b\\u0000"}`],
    ["lone surrogates, escaped", `{"model":"${model}","a":"\\ud800"}`],
    ["a member called __proto__", `{"model":"${model}","__proto__":{"a":1},"constructor":{}}`],
    ["depth", `{"model":"${model}","a":${"[".repeat(126)}${"]".repeat(126)}}`],
    ["blanks and line breaks", `\r\n\t {\n"model"\r:\t"${model}" , "a" : [ ] }\n\n`],
  ])("with %s reaches the provider byte for byte", async (_what, body) => {
    expect((await seenFor(() => send(path, withKey(), body))).body).toBe(body);
  });

  test("of exactly the limit passes; one byte more is refused with 413 in the surface's shape", async () => {
    const filled = (size: number) => {
      const empty = `{"model":"${model}","a":""}`;
      return empty.replace('""', `"${"x".repeat(size - empty.length)}"`);
    };
    const largest = filled(JSON_BYTES_MAX);
    expect((await seenFor(() => send(path, withKey(), largest))).body).toBe(largest);
    const before = upstream.seen.length;
    const bytes = filled(JSON_BYTES_MAX + 1);
    const chunked = `POST ${path} HTTP/1.1\r\nhost: gateway.example\r\nauthorization: Bearer ${gateway.secret}\r\ntransfer-encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n${bytes}\r\n0\r\n\r\n`;
    for (const answer of [await send(path, withKey(), bytes), await rawAnswer(gateway.url, chunked)]) {
      expect(answer.status).toBe(413);
      expect(answer.headers.get("x-should-retry")).toEqual(["false"]);
      const type = path === "/v1/messages" ? ERRORS.too_large.anthropic : ERRORS.too_large.openai;
      expect(JSON.parse(answer.body.toString()).error.type).toBe(type);
    }
    expect(upstream.seen.length).toBe(before);
  });

  test("that came in chunks of one byte reaches the provider whole", async () => {
    const body = `{"model":"${model}","a":"é"}`;
    const chunks = [...Buffer.from(body)].map((byte) =>
      Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]),
    );
    const head = `POST ${path} HTTP/1.1\r\nhost: gateway.example\r\nauthorization: Bearer ${gateway.secret}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const request = Buffer.concat([Buffer.from(head), ...chunks, Buffer.from("0\r\n\r\n")]);
    const seen = await seenFor(() => rawAnswer(gateway.url, request));
    expect(seen.body).toBe(body);
    expect(seen.headers).toMatchObject({ "content-length": String(Buffer.byteLength(body)) });
  });
});

describe("request headers:", () => {
  const HOSTILE = {
    "x-stainless-lang": "js",
    "X-Forwarded-For": "10.0.0.1",
    "x-session-id": "s-1",
    "X-Tags": "a,b",
    "x-client": "suite",
    "x-api-key": "of-the-client",
    "x-task-type": "",
    "x-amz-security-token": "token",
    cookie: "a=b",
    forwarded: "for=10.0.0.1",
    via: "1.1 somewhere",
    "proxy-authorization": "Basic aaa",
    "proxy-connection": "keep-alive",
    "openai-organization": "org-1",
    "openai-project": "proj-1",
    origin: "https://evil.example",
    referer: "https://evil.example/page",
    te: "trailers",
    trailer: "x-late",
    upgrade: "websocket",
    connection: "keep-alive, user-agent, accept",
    "accept-encoding": "gzip, br",
    "if-none-match": '"etag"',
    range: "bytes=0-1",
  };

  test.each(SURFACES)(
    "of a call to $path the provider sees only those of the list",
    async ({ path, model }) => {
      const headers = {
        ...HOSTILE,
        ...withKey(),
        "anthropic-version": "2024-01-01",
        "anthropic-beta": "beta-1",
        "openai-beta": "beta-2",
        "idempotency-key": "idem-1",
      };
      const seen = await seenFor(() => send(path, headers, `{"model":"${model}"}`));
      const credential =
        path === "/v1/messages"
          ? { "x-api-key": VENDOR_CREDENTIAL }
          : { authorization: `Bearer ${VENDOR_CREDENTIAL}` };
      const { host, connection, ...rest } = seen.headers;
      expect(host).toBe(new URL(upstream.url).host);
      expect(connection).not.toContain("user-agent");
      // What the client named as hop-by-hop is the HTTP library's own, if it is there at all.
      const { "user-agent": agent, accept, ...others } = rest;
      expect([agent, accept]).not.toContain("suite/1.0");
      expect(others).toEqual({
        ...credential,
        "accept-encoding": "identity",
        "anthropic-version": "2024-01-01",
        "anthropic-beta": "beta-1",
        "openai-beta": "beta-2",
        "idempotency-key": "idem-1",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(seen.body)),
      });
    },
  );

  test("accept and user-agent pass as the client wrote them", async () => {
    const headers = { ...withKey(), accept: "text/event-stream", "user-agent": "suite/1.0 (é)" };
    const seen = await seenFor(() => send(CHAT.path, headers, `{"model":"${CHAT.model}"}`));
    expect(seen.headers).toMatchObject({ accept: "text/event-stream" });
    expect(Buffer.from(seen.headers["user-agent"] ?? "", "latin1").toString()).toBe("suite/1.0 (é)");
  });

  test("without anthropic-version the provider of messages gets the one that everybody has", async () => {
    const seen = await seenFor(() => send("/v1/messages", withKey(), '{"model":"claude"}'));
    expect(seen.headers["anthropic-version"]).toBe("2023-06-01");
  });
});

describe("credentials:", () => {
  const NOT_OURS = "sk-of-some-vendor";
  const UNKNOWN = `tg_${"z".repeat(43)}`;
  type Case = [what: string, headers: (key: string) => Record<string, string>, status: number];
  const CASES: Case[] = [
    ["a bearer token", (key) => ({ authorization: `Bearer ${key}` }), 200],
    ["another case of the scheme, and blanks", (key) => ({ authorization: `bEaReR \t ${key}  ` }), 200],
    ["x-api-key", (key) => ({ "x-api-key": key }), 200],
    ["x-gateway-key", (key) => ({ "x-gateway-key": ` ${key} ` }), 200],
    [
      "a valid x-gateway-key beside others",
      (key) => ({ "x-gateway-key": key, authorization: `Bearer ${NOT_OURS}`, "x-api-key": NOT_OURS }),
      200,
    ],
    [
      "a false x-gateway-key beside a valid bearer token",
      (key) => ({ "x-gateway-key": UNKNOWN, authorization: `Bearer ${key}` }),
      401,
    ],
    [
      "a foreign x-gateway-key beside a valid x-api-key",
      (key) => ({ "x-gateway-key": NOT_OURS, "x-api-key": key }),
      401,
    ],
    [
      "an empty x-gateway-key beside a valid bearer token",
      (key) => ({ "x-gateway-key": " ", authorization: `Bearer ${key}` }),
      200,
    ],
    [
      "a foreign bearer token beside a valid x-api-key",
      (key) => ({ authorization: `Bearer ${NOT_OURS}`, "x-api-key": key }),
      200,
    ],
    [
      "a valid bearer token beside a foreign x-api-key",
      (key) => ({ authorization: `Bearer ${key}`, "x-api-key": NOT_OURS }),
      200,
    ],
    [
      "an empty bearer token beside a valid x-api-key",
      (key) => ({ authorization: "Bearer ", "x-api-key": key }),
      200,
    ],
    ["another scheme", (key) => ({ authorization: `Basic ${key}` }), 401],
    ["the key without a scheme", (key) => ({ authorization: key }), 401],
    ["two keys in one header", (key) => ({ "x-api-key": `${key}, ${key}` }), 401],
    ["two keys in x-gateway-key", (key) => ({ "x-gateway-key": `${key},${UNKNOWN}` }), 401],
    ["a key with one letter less", (key) => ({ authorization: `Bearer ${key.slice(0, -1)}` }), 401],
    ["a key in another case", (key) => ({ authorization: `Bearer ${key.replace("tg_", "TG_")}` }), 401],
    ["an unknown key", () => ({ authorization: `Bearer ${UNKNOWN}` }), 401],
    ["the admin key", () => ({ authorization: `Bearer ${ADMIN_KEY}` }), 401],
    ["none", () => ({}), 401],
  ];

  test.each(CASES)("%s", async (_what, headers, status) => {
    const before = upstream.seen.length;
    const answer = await send(CHAT.path, headers(gateway.secret), `{"model":"${CHAT.model}"}`);
    expect(answer.status).toBe(status);
    expect(upstream.seen.length - before).toBe(status === 200 ? 1 : 0);
    const sent = upstream.seen
      .slice(before)
      .map(({ headers: seen }) => JSON.stringify(seen))
      .join();
    expect(sent).not.toContain(gateway.secret);
    expect(sent).not.toContain(NOT_OURS);
  });

  test("of two valid keys the bearer token's is charged, and x-gateway-key's before both", async () => {
    const make = (name: string) => gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name });
    const [first, second, third] = [await make(newId()), await make(newId()), await make(newId())];
    const pair = { authorization: `Bearer ${first.secret}`, "x-api-key": second.secret };
    const charged = async (headers: Record<string, string>) => {
      const session = newId();
      await send(CHAT.path, { ...headers, "x-session-id": session }, `{"model":"${CHAT.model}"}`);
      await gateway.records(session);
      const [row] = await gateway.sql<
        { key_id: string }[]
      >`select key_id from requests where session = ${session}`;
      return row?.key_id;
    };
    expect(await charged(pair)).toBe(first.id);
    expect(await charged({ ...pair, "x-gateway-key": third.secret })).toBe(third.id);
  });
});

describe("a Host or target that could mislead the router", () => {
  const get = (target: string, host: string | null, headers = "") =>
    rawAnswer(
      gateway.url,
      `GET ${target} HTTP/1.1\r\n${host === null ? "" : `host: ${host}\r\n`}connection: close\r\n${headers}\r\n`,
    );

  test("the admin API is behind its key, and answers with it", async () => {
    expect((await get("/admin/v1/providers", "gateway.example")).status).toBe(401);
    const key = `authorization: Bearer ${ADMIN_KEY}\r\n`;
    expect((await get("/admin/v1/providers", "gateway.example", key)).status).toBe(200);
  });

  test.each([
    ["x", "/admin/v1/providers"],
    ["abc", "/admin/v1/providers"],
    ["x", "/zz/admin/v1/providers"],
    ["a", "/zz/v1/models"],
    ["x/y", "/admin/v1/providers"],
    ["x?", "/admin/v1/providers"],
    ["x#", "/admin/v1/providers"],
    ["a@gateway.example", "/admin/v1/providers"],
    ["gateway.example/v1", "/admin/v1/providers"],
    ["gateway.example, evil.example", "/v1/models"],
    ["gateway.example:80:80", "/v1/models"],
    ["[::1", "/v1/models"],
    ["", "/admin/v1/providers"],
    [null, "/admin/v1/providers"],
  ])("Host %p for %s is refused with 400, whichever key is sent", async (host, target) => {
    for (const key of [
      "",
      `authorization: Bearer ${gateway.secret}\r\n`,
      `authorization: Bearer ${ADMIN_KEY}\r\n`,
    ]) {
      expect((await get(target, host, key)).status).toBe(400);
    }
  });

  test.each(["GET", "HEAD"])("two Host headers are refused (%s)", async (method) => {
    const answer = await rawAnswer(
      gateway.url,
      `${method} /v1/models HTTP/1.1\r\nhost: gateway.example\r\nhost: other.example\r\nconnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(400);
  });

  test.each([
    "/v1/../admin/v1/providers",
    "/v1/%2e%2e/admin/v1/providers",
    "/v1/..%2fadmin/v1/providers",
    "//admin/v1/providers",
    "/\\admin/v1/providers",
    "/ADMIN/v1/providers",
    "/admin/v1/providers/",
    "/admin/v1/providers%00",
    "/admin%2fv1%2fproviders",
    "/zz/admin/v1/providers",
    "http://x/admin/v1/providers",
    "http://gateway.example/admin/v1/providers",
    "http://gateway.example@x/admin/v1/providers",
    "/v1/models/../../admin/v1/providers",
  ])("no client key opens %s", async (target) => {
    const answer = await get(target, "gateway.example", `authorization: Bearer ${gateway.secret}\r\n`);
    expect([400, 401, 404]).toContain(answer.status);
  });

  test.each([
    "/admin\\v1\\providers",
    "/v1\\models",
    "/v1/x\\..\\models",
    "/x/../admin/v1/providers",
    "/x/%2e%2e/admin/v1/providers",
    "/x//..\\..\\admin/v1/providers",
    "/v1/files/x/..\\..\\..\\admin\\v1\\providers",
    `${"/x".repeat(20)}${"\\..".repeat(20)}\\admin\\v1\\providers`,
    "/v1beta/x\\..\\models/gemini-2.5-pro",
    "//v1/models",
  ])("%s, which a proxy may have read as another path, reaches no handler", async (target) => {
    const answer = await get(target, "gateway.example", `authorization: Bearer ${ADMIN_KEY}\r\n`);
    expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining("ambiguous")]);
  });

  test("a path that no handler has is 404 as it was sent, whatever is encoded in it", async () => {
    for (const target of ["/nothing", "/v1/nothing/", "/v1/a%20b/%C3%BC", "/v1/a:b@c;d=e/x!'()*~"]) {
      expect((await get(target, "gateway.example")).status).toBe(404);
    }
  });

  test.each(["TRACE", "CONNECT", "PROPFIND"])("%s is no method of this server", async (method) => {
    const answer = await rawAnswer(
      gateway.url,
      `${method} /v1/models HTTP/1.1\r\nhost: gateway.example\r\nconnection: close\r\n\r\n`,
    );
    expect([400, 405, 0]).toContain(answer.status);
  });
});
