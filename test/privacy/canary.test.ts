import { beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { newId } from "#shared/ids.ts";
import { type Canary, dumpOf, filesBelow, found, spellings } from "#test/support/canaries.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { VENDOR_CREDENTIAL, type WiredProcess, wiredProcess } from "#test/support/wired-gateway.ts";

// Marked texts go through every way that a call can take, well or badly. Afterwards they are looked for in everything
// that the gateway has written or says: tables, spool, log, metrics, refusals. A session label goes the same ways and is
// found, which shows that the search can find.

const PROMPT = "canary-prompt-7f3a9c51e2d84b60";
const ANSWER = "canary-answer-c81d20b6f4975ae3";
const FOREIGN = "canary-foreign-5b92e7d01fa8463c";
const SESSION = `seen-${newId()}`;

let upstream: ScriptedUpstream;
let gateway: WiredProcess;
let canaries: Canary[];
/** Bodies and headers of the gateway's own refusals, by the way they came about. */
const refusals = new Map<string, string>();

beforeAll(async () => {
  upstream = await scriptedUpstream(play);
  gateway = await wiredProcess(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { LOG_LEVEL: "trace", JSON_BYTES_MAX: "65536" },
  );
  canaries = [
    { name: "prompt", text: PROMPT },
    { name: "answer", text: ANSWER },
    { name: "foreign credential", text: FOREIGN },
    { name: "client key", text: gateway.secret.slice("tg_".length) },
    { name: "provider key", text: VENDOR_CREDENTIAL },
    { name: "admin key", text: ADMIN_KEY },
    { name: "master key", text: Buffer.alloc(32, 7).toString("hex") },
  ];
});

/** How the provider behaves is in the path of the image that a call names: nothing else in a prompt is read. */
async function play(request: SeenRequest, reply: Reply): Promise<void> {
  const way = /way:(\w+)/.exec(request.body)?.[1] ?? "";
  const chunk = (delta: object) =>
    reply.chunk(`data: ${JSON.stringify({ id: ANSWER, choices: [{ index: 0, delta }] })}\n\n`);
  const echo = {
    echoed: request.body,
    key: request.headers["authorization"] ?? request.headers["x-api-key"],
  };
  const ways: Record<string, () => void | Promise<void>> = {
    answer: () =>
      reply.json({
        id: ANSWER,
        model: "gpt-4o",
        choices: [{ index: 0, message: { role: "assistant", content: ANSWER } }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      }),
    refuse: () => reply.json({ error: { message: PROMPT, type: ANSWER, code: PROMPT, ...echo } }, 400),
    fail: () => reply.json({ error: { message: PROMPT, type: ANSWER, ...echo } }, 500),
    redirect: () => reply.json({}, 307, { location: `/elsewhere/${PROMPT}` }),
    garbage: () => reply.raw(`${ANSWER} no HTTP ${PROMPT}\r\n\r\n`),
    unreadable: () => reply.json(`${ANSWER}{"usage":${PROMPT}`),
    wrongtypes: () => reply.json({ model: { [ANSWER]: 1 }, usage: ANSWER, service_tier: [ANSWER] }),
    gzip: () => {
      const bytes = gzipSync(JSON.stringify({ choices: [], usage: null, text: ANSWER })).subarray(0, 40);
      reply.json({}, 200, { "content-encoding": "gzip", "x-request-id": "short" });
      reply.raw(bytes);
      reply.close();
    },
    reset: () => reply.reset(),
    stream: () => {
      reply.head("text/event-stream");
      chunk({ content: ANSWER });
      chunk({ tool_calls: [{ index: 0, function: { name: ANSWER, arguments: PROMPT } }] });
      reply.chunk("data: [DONE]\n\n");
      reply.end();
    },
    streamerror: () => {
      reply.head("text/event-stream");
      chunk({ content: ANSWER });
      reply.chunk(`data: {"error":{"message":"${PROMPT}"}}\n\n`);
      reply.end();
    },
    broken: async () => {
      reply.head("text/event-stream");
      chunk({ content: ANSWER });
      // What it sent has reached the client before it breaks off.
      await gateway.caughtUp();
      reply.reset();
    },
    hang: () => {
      reply.head("text/event-stream");
      chunk({ content: ANSWER });
    },
  };
  await (ways[way] ?? (() => reply.json({ error: { message: PROMPT } }, 404)))();
}

const SURFACES = [
  { path: "/v1/chat/completions", model: "chat" },
  { path: "/v1/messages", model: "claude" },
] as const;
type Surface = (typeof SURFACES)[number];

const bodyOf = ({ model }: Pick<Surface, "model"> | { model: string }, way: string, rest: object = {}) =>
  JSON.stringify({
    model,
    max_tokens: 10,
    messages: [
      { role: "system", content: PROMPT },
      {
        role: "user",
        content: [
          { type: "text", text: PROMPT },
          { type: "image_url", image_url: `way:${way}` },
        ],
      },
      { role: "tool", tool_call_id: PROMPT, content: PROMPT },
    ],
    tools: [{ type: "function", function: { name: PROMPT, parameters: { [PROMPT]: PROMPT } } }],
    prompt_cache_key: PROMPT,
    [PROMPT]: PROMPT,
    ...rest,
  });

function call(
  surface: Surface,
  body: BodyInit,
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  return fetch(`${gateway.url}${surface.path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      "content-type": "application/json",
      "x-session-id": SESSION,
      "x-unknown": PROMPT,
      cookie: `prompt=${PROMPT}`,
      ...init.headers,
    },
    body,
    ...(init.signal ? { signal: init.signal } : {}),
  });
}

/** Reads an answer of the gateway's own making and keeps all of it. */
async function keepRefusal(name: string, answer: Response, status: number): Promise<void> {
  expect([name, answer.status]).toEqual([name, status]);
  refusals.set(name, `${JSON.stringify([...answer.headers])}\n${await answer.text()}`);
}

const ANSWERED = [
  "answer",
  "refuse",
  "fail",
  "unreadable",
  "wrongtypes",
  "stream",
  "streamerror",
  "broken",
  "unknown",
];
const UNANSWERED = { redirect: 502, garbage: 502, reset: 502 } as const;

describe.each(SURFACES)("marked texts go through $path:", (surface) => {
  test.each(ANSWERED)("the provider answers (%s)", async (way) => {
    const streamed = way.startsWith("stream") || way === "broken";
    const answer = await call(surface, bodyOf(surface, way, { stream: streamed }));
    const text = await answer.text().catch(() => "");
    if (way === "answer") expect(text).toContain(ANSWER);
  });

  test.each(Object.entries(UNANSWERED))("the provider fails (%s)", async (way, status) => {
    await keepRefusal(`${surface.path} ${way}`, await call(surface, bodyOf(surface, way)), status);
  });

  test("the client leaves in the middle", async () => {
    const leaving = new AbortController();
    const answer = await call(surface, bodyOf(surface, "hang", { stream: true }), { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
  });

  test("the body cannot be read as what it should be", async () => {
    const bodies: Record<string, [BodyInit, number]> = {
      "no JSON": [`{"model":"chat","messages":[${PROMPT}`, 400],
      "no object": [JSON.stringify([PROMPT]), 400],
      "broken text": [
        Buffer.concat([Buffer.from(`{"x":"${PROMPT}`), Buffer.from([0xff, 0xfe, 0x22, 0x7d])]),
        400,
      ],
      "a model that is no name": [bodyOf(surface, "answer", { model: { [PROMPT]: PROMPT } }), 400],
      "a route that is no name": [bodyOf(surface, "answer", { route: [PROMPT] }), 400],
      "too large": [bodyOf(surface, "answer", { padding: PROMPT.repeat(4000) }), 413],
      "too deep": [`{"model":"chat","x":${"[".repeat(5000)}"${PROMPT}"${"]".repeat(5000)}}`, 400],
    };
    for (const [name, [body, status]] of Object.entries(bodies)) {
      await keepRefusal(`${surface.path} ${name}`, await call(surface, body), status);
    }
  });

  test("the key is refused", async () => {
    const body = bodyOf(surface, "answer");
    const headers = { authorization: `Bearer ${FOREIGN}`, "x-api-key": FOREIGN };
    await keepRefusal(`${surface.path} foreign key`, await call(surface, body, { headers }), 401);
    const narrow = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: newId(),
      scopes: { routes: [] },
    });
    const scoped = { authorization: `Bearer ${narrow.secret}` };
    await keepRefusal(`${surface.path} narrow key`, await call(surface, body, { headers: scoped }), 403);
  });

  test("somebody else's credential comes beside the key", async () => {
    const headers = {
      "x-gateway-key": gateway.secret,
      authorization: `Bearer ${FOREIGN}`,
      "x-api-key": FOREIGN,
    };
    const before = upstream.seen.length;
    expect((await call(surface, bodyOf(surface, "answer"), { headers })).status).toBe(200);
    expect(JSON.stringify(upstream.seen.slice(before))).not.toContain(FOREIGN);
  });
});

test("administrators' mistakes with secrets in them are refused without the secret", async () => {
  const secret = { credential: VENDOR_CREDENTIAL };
  const mistakes: [method: string, path: string, body: object][] = [
    ["POST", "/providers", { name: "x", kind: "no-such", ...secret }],
    ["POST", "/providers", { name: "x", kind: "openai", base_url: 7, ...secret }],
    ["POST", "/providers", { name: "x", kind: "openai", credential: [VENDOR_CREDENTIAL] }],
    ["POST", "/providers", { name: "chat-vendor", kind: "openai", ...secret }],
    [
      "POST",
      "/providers",
      { name: "x", kind: "openai", base_url: `https://u:${VENDOR_CREDENTIAL}@example.com/v1` },
    ],
    ["PUT", "/providers/y", { kind: "openai", unknown: VENDOR_CREDENTIAL }],
    ["POST", "/keys", { name: "k", secret: gateway.secret }],
  ];
  for (const [index, [method, path, body]] of mistakes.entries()) {
    const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
    refusals.set(`admin ${index}`, `${JSON.stringify([...answer.headers])}\n${await answer.text()}`);
  }
});

describe("afterwards the marked texts are nowhere:", () => {
  /** Of `places`, those that hold a canary. */
  const leaks = (places: Iterable<[string, Uint8Array | string]>) =>
    [...places]
      .map(([place, bytes]) => [place, found(canaries, bytes)] as const)
      .filter(([, names]) => names.length > 0);

  test("the provider itself got the prompt and its own key, and nobody's else", () => {
    const seen = JSON.stringify(upstream.seen);
    expect(seen).toContain(PROMPT);
    expect(seen).toContain(VENDOR_CREDENTIAL);
    expect(seen).not.toContain(gateway.secret);
    expect(seen).not.toContain(FOREIGN);
  });

  test("in no refusal", () => {
    expect(refusals.size).toBeGreaterThan(30);
    expect(leaks(refusals)).toEqual([]);
  });

  test("in no table of any schema", async () => {
    const calls = SURFACES.length * (ANSWERED.length + Object.keys(UNANSWERED).length + 2);
    await gateway.records(SESSION, calls - 2);
    const dump = await dumpOf(gateway.sql);
    expect(dump.size).toBeGreaterThan(10);
    expect([...dump.values()].some((text) => text.includes(SESSION))).toBe(true);
    expect(leaks(dump)).toEqual([]);
  });

  test("not in the metrics, nor in any document that needs no key", async () => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const paths = [
      "/metrics",
      "/openapi/json",
      "/readyz",
      "/healthz",
      "/admin/v1/requests",
      "/admin/v1/providers",
      "/admin/v1/keys",
    ];
    for (const path of paths) {
      const answer = await fetch(gateway.url + path, { headers });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(leaks([[path, await answer.text()]])).toEqual([]);
    }
  });

  test("in no file of the data directory, also not of a gateway that was killed in the middle of calls", async () => {
    const hanging = SURFACES.map((surface) => call(surface, bodyOf(surface, "hang", { stream: true })));
    await Promise.all((await Promise.all(hanging)).map((answer) => answer.body?.getReader().read()));
    await gateway.kill();
    const files = filesBelow(gateway.dataDir);
    expect([...files.values()].some((bytes) => spellings(SESSION).some((text) => bytes.includes(text)))).toBe(
      true,
    );
    expect(leaks(files)).toEqual([]);
    await gateway.start();
    await until(async () => {
      const [row] = await gateway.sql`select count(*)::int as n from requests where state = 'interrupted'`;
      // These, and the ones whose clients left: the provider had not ended those either.
      return row?.["n"] === 2 * SURFACES.length;
    });
    expect(leaks(await dumpOf(gateway.sql))).toEqual([]);
  });

  test("in no line of the log, at its most talkative", () => {
    expect(gateway.log().split("\n").length).toBeGreaterThan(5);
    expect(leaks([["log", gateway.log()]])).toEqual([]);
  });
});
