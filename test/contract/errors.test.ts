import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Registry } from "prom-client";
import { type GatewayAppDeps, gatewayApp } from "#gateway/app.ts";
import { readGatewayConfig } from "#gateway/config.ts";
import { type OpenedDeps, openDeps } from "#gateway/deps.ts";
import { ERRORS, type ErrorType } from "#gateway/errors.ts";
import { bodyBudget } from "#gateway/http/body-budget.ts";
import { openRefusals } from "#gateway/plugins/refusals.ts";
import { openDirectory } from "#gateway/stores/directory/directory.ts";
import { reportWriter } from "#gateway/stores/reports/report-writer.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { type DatabaseLine, databaseLine } from "#test/support/database-line.ts";
import { keptLog, scratch } from "#test/support/embedded.ts";
import { NO_SNAPSHOT } from "#test/support/no-snapshot.ts";
import { freePort } from "#test/support/ports.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { testRecorder } from "#test/support/recorder-kit.ts";
import { type Reply, type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

const ADMIN_KEY = "tga_of-the-contract-suite-000000";
const INSIDE = "what went wrong inside, which is nobody's business";

const place = scratch();
let database: TestDatabase;
let line: DatabaseLine;
let upstream: ScriptedUpstream;
let running: OpenedDeps;
let whole: ReturnType<typeof gatewayApp>;
let secret: string;
let play: (reply: Reply) => void = () => undefined;

beforeAll(async () => {
  database = await testDatabase();
  line = await databaseLine(database.url);
  upstream = await scriptedUpstream((_request, reply) => play(reply));
  const config = readGatewayConfig({
    DATABASE_URL: line.url,
    DATA_DIR: place.path,
    ADMIN_KEY,
    MASTER_KEY: "7".repeat(64),
    JSON_BYTES_MAX: "2048",
  });
  running = await openDeps(config, keptLog());
  await running.begin();
  whole = gatewayApp(running.deps);
  await furnish();
});

afterAll(async () => {
  line.mend();
  await running.close();
  await Promise.all([line.close(), upstream.close()]);
});

type Sent = {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  deps?: Partial<GatewayAppDeps>;
};

async function send(
  path: string,
  { method = "POST", body, headers = {}, deps }: Sent = {},
): Promise<Response> {
  const request = new Request(`http://gateway.example${path}`, {
    method,
    headers: { host: "gateway.example", authorization: `Bearer ${secret}`, ...headers },
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" || body instanceof ReadableStream ? body : JSON.stringify(body) }),
  });
  return await (deps ? gatewayApp({ ...running.deps, ...deps }) : whole).handle(request);
}

const admin = async (method: string, path: string, body?: unknown) =>
  await send(`/admin/v1${path}`, { method, body, headers: { authorization: `Bearer ${ADMIN_KEY}` } });

async function newSecret(scopes?: object): Promise<string> {
  const answer = await admin("POST", "/keys", { name: newId(), ...(scopes ? { scopes } : {}) });
  return (await answer.json()).secret;
}

async function limitedSecret(limits: object): Promise<string> {
  return (await (await admin("POST", "/keys", { name: newId(), limits })).json()).secret;
}

async function furnish(): Promise<void> {
  secret = await newSecret();
  const reachable = { allow_private_network: true, credential: "vendor" };
  const at = (port: number) => `http://127.0.0.1:${port}`;
  const providers = {
    scripted: { base_url: upstream.url, ...reachable },
    away: { base_url: at(freePort()), ...reachable },
    keyless: { base_url: upstream.url, allow_private_network: true },
  };
  for (const [name, rest] of Object.entries(providers)) {
    for (const kind of ["openai", "anthropic"]) {
      await admin("PUT", `/providers/${name}-${kind}`, { kind, ...rest });
      const route = { surface: "chat", provider: `${name}-${kind}`, model: "m-1" };
      expect((await admin("PUT", `/routes/${name}-${kind}`, route)).status).toBe(201);
    }
  }
}

/** A model surface, and the kind whose providers it calls as they are. */
const SURFACES = [
  { path: "/v1/chat/completions", kind: "openai" },
  { path: "/v1/messages", kind: "anthropic" },
] as const;
type Surface = (typeof SURFACES)[number];

const call = ({ path, kind }: Surface, to: string, sent: Sent = {}) =>
  send(path, { body: { model: `${to}-${kind}`, max_tokens: 1, messages: [] }, ...sent });
const JSON_TYPE = { "content-type": "application/json" };
const keyed = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** One report, by the admin key. */
const report = (deps?: Partial<GatewayAppDeps>, client = "any") =>
  send("/v1/reports/query", {
    body: {
      spec: {
        source: "requests",
        dimensions: [],
        measures: ["requests"],
        filters: { client: [client] },
        range: "7d",
        compare: "none",
        view: "table",
      },
    },
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(deps && { deps }),
  });

/** A way to each error, by real requests; where it does not lie on a model surface, the surface does not matter. */
const WAYS: Record<ErrorType, (surface: Surface) => Promise<Response>> = {
  invalid_request: ({ path }) => send(path, { body: `{"model":` }),
  unknown_route: (surface) => call(surface, "scripted", { headers: { "x-task-type": "no-such" } }),
  upgrade_required: () => send("/v1/responses", { method: "GET", ...keyed(secret) }),
  unauthenticated: (surface) => call(surface, "scripted", keyed("nobody")),
  too_many_refusals: (surface) => {
    const { clock, callers } = running.deps;
    const of = { clock, log: keptLog(), metrics: new Registry(), addressOf: () => "192.0.2.1" };
    const refusals = openRefusals({ ...of, perMinuteMax: 1 });
    return call(surface, "scripted", { ...keyed("nobody"), deps: { callers: { ...callers, refusals } } });
  },
  route_not_allowed: async (surface) =>
    call(surface, "scripted", keyed(await newSecret({ routes: ["echo"] }))),
  model_not_allowed: async (surface) =>
    call(surface, "scripted", keyed(await newSecret({ models: ["m-2"] }))),
  subscription_unavailable: (surface) =>
    call(surface, "scripted", { headers: { "x-gateway-lane": "subscription" } }),
  unpriced_model: async (surface) =>
    call(surface, "scripted", keyed(await limitedSecret({ budget_usd: "1" }))),
  session_not_yours: async ({ path }) => {
    const session = newId();
    const anothers = { authorization: `Bearer ${await newSecret()}`, "x-session-id": session };
    await send(path, { body: { model: "echo", max_tokens: 1, messages: [] }, headers: anothers });
    let answer = await send("/v1/sessions/links", { body: { session, of: "task" }, headers: JSON_TYPE });
    // Its record comes shortly after the answer.
    await until(async () => {
      answer = await send("/v1/sessions/links", { body: { session, of: "task" }, headers: JSON_TYPE });
      return answer.status !== 200;
    });
    return answer;
  },
  guardrail_blocked: async (surface) => {
    await admin("PUT", "/guardrails/contract", { match: { tags: ["refused"] } });
    return await call(surface, "scripted", { headers: { "x-tags": "refused" } });
  },
  role_not_allowed: () =>
    send("/v1/me", { method: "GET", headers: { authorization: `Bearer ${ADMIN_KEY}` } }),
  foreign_origin: () =>
    send("/auth/sign-in/link", { body: { token: "t" }, headers: { origin: "http://elsewhere.test" } }),
  reports_not_allowed: () => send("/v1/reports", { method: "GET" }),
  not_found: ({ path }) => send(`${path}/nothing/here`),
  model_not_found: (surface) => call(surface, "no-such"),
  method_not_allowed: ({ path }) => send(path, { method: "PROPFIND" }),
  not_open: async () => {
    await admin("POST", "/periods/close", { month: "2026-01" });
    return admin("POST", "/prices/restate", { from: "2026-01-05", to: "2026-01-06" });
  },
  conflict: () =>
    admin("POST", "/routes", { name: "echo", surface: "chat", provider: "echo", model: "echo" }),
  request_timeout: ({ path }) => {
    const body = new ReadableStream<Uint8Array>({ start: (it) => it.enqueue(Buffer.from("{")) });
    const watchdog = startWatchdog(systemClock, 5);
    return send(path, { body, deps: { watchdog, patience: { readerMs: 1, bodyMs: 1 } } }).finally(
      watchdog.close,
    );
  },
  too_large: (surface) => call(surface, "scripted", { body: { model: "x".repeat(3000) } }),
  unsupported_media_type: (surface) => call(surface, "scripted", { headers: { "content-encoding": "gzip" } }),
  rate_limited: async (surface) => {
    const own = keyed(await limitedSecret({ requests_per_minute: 1 }));
    await call(surface, "away", own);
    return await call(surface, "away", own);
  },
  budget_exhausted: async (surface) =>
    call(surface, "scripted", keyed(await limitedSecret({ budget_usd: "0", unpriced: "allow" }))),
  spend_limit_reached: async (surface) => {
    const own = await limitedSecret({ budget_usd: "0", unpriced: "allow" });
    await testSql(database.url)`update keys set program = 'claude_code'
      where id = (select key_id from key_secrets where last_four = ${own.slice(-4)} order by id desc limit 1)`;
    await newSecret();
    return await call(surface, "scripted", keyed(own));
  },
  internal: (surface) => {
    const now = () => {
      throw new TypeError(INSIDE);
    };
    return call(surface, "scripted", { deps: { clock: { ...systemClock, now } } });
  },
  upstream_unreachable: (surface) => call(surface, "away"),
  upstream_broken: (surface) => {
    play = (reply) => reply.reset();
    return call(surface, "scripted");
  },
  key_unverifiable: async (surface) => {
    line.cut();
    return await call(surface, "scripted", keyed(`tg_${"k".repeat(43)}`)).finally(line.mend);
  },
  bodies_too_many: async (surface) => {
    const budget = bodyBudget(1024);
    budget.hold().take(1024);
    return await call(surface, "scripted", { deps: { bodyBudget: budget } });
  },
  cannot_record: async (surface) => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    await recorder.close(0);
    return await call(surface, "scripted", { deps: { recorder } });
  },
  not_ready: async (surface) => {
    const directory = openDirectory({
      database: running.deps.database,
      masterKey: new Uint8Array(32),
      providerKeys: new Map(),
      clock: systemClock,
      log: keptLog(),
      snapshot: NO_SNAPSHOT,
    });
    const callers = { ...running.deps.callers, keyOf: directory.keyOf };
    return await call(surface, "scripted", { deps: { callers } });
  },
  store_unavailable: async () => {
    line.cut();
    return await admin("GET", "/requests").finally(line.mend);
  },
  built_in: () => admin("DELETE", "/reports/spend-by-model"),
  reports_unavailable: async () => {
    const writer = reportWriter({ url: line.url, mainUrl: line.url }, running.deps);
    await writer.close();
    return await report({ reportWriter: writer });
  },
  // Reports are of no surface of models: asked once for all of them.
  overloaded: async () => {
    overload ??= tooManyReports();
    return (await overload).clone();
  },
  provider_unconfigured: (surface) => call(surface, "keyless"),
  upstream_timeout: async (surface) => {
    // An hour passes once the provider has the request.
    let passedMs = 0;
    play = () => {
      passedMs = 3_600_000;
    };
    const clock = { now: systemClock.now, monotonicMs: () => performance.now() + passedMs };
    const watchdog = startWatchdog(clock, 5);
    return await call(surface, "scripted", { deps: { clock, watchdog } }).finally(watchdog.close);
  },
};

let overload: Promise<Response> | undefined;
async function tooManyReports(): Promise<Response> {
  // Equal ones would be one.
  const answers = await Promise.all(Array.from({ length: 300 }, () => report(undefined, newId())));
  return answers.find(({ status }) => status !== 200) ?? new Response(null, { status: 204 });
}

/** They tell by themselves how long to wait. */
const MEASURED: readonly ErrorType[] = ["rate_limited", "too_many_refusals", "spend_limit_reached"];

describe.each(Object.entries(ERRORS))("%s", (name, facts) => {
  const type = name as ErrorType;
  test.each(SURFACES)("is reached, and says what the table says (from $path)", async (surface) => {
    const answer = await WAYS[type](surface);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([facts.status, text]);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(answer.headers.get("x-should-retry")).toBe(facts.final ? "false" : null);
    const wait = "retryAfterSeconds" in facts ? String(facts.retryAfterSeconds) : null;
    if (MEASURED.includes(type)) expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    else expect(answer.headers.get("retry-after")).toBe(wait);
    expect(text).not.toContain(INSIDE);
    expect(text).not.toContain(upstream.url);
    const body = JSON.parse(text);
    expect(body.error.message).toMatch(/^[A-Z].*\.$/s);
    if (body.type === "error") {
      const requestId = answer.headers.get("request-id");
      expect(body).toEqual({
        type: "error",
        error: { type: facts.anthropic, message: body.error.message },
        request_id: requestId,
      });
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(surface.path).toBe("/v1/messages");
    } else {
      expect(body).toEqual({
        error: {
          message: body.error.message,
          type: facts.openai,
          param: null,
          code: "code" in facts ? facts.code : type,
        },
      });
      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

test("each kind of error is told in Anthropic's shape wherever a client of messages can meet it", async () => {
  const [, messages] = SURFACES;
  const elsewhere: readonly ErrorType[] = [
    "role_not_allowed",
    "upgrade_required",
    "foreign_origin",
    "reports_not_allowed",
    "not_open",
    "conflict",
    "store_unavailable",
    "overloaded",
    "built_in",
    "session_not_yours",
    "reports_unavailable",
  ];
  const here = (Object.keys(ERRORS) as ErrorType[]).filter((type) => !elsewhere.includes(type));
  for (const type of here) {
    const body = await (await WAYS[type](messages)).json();
    expect([type, body.type]).toEqual([type, "error"]);
  }
});

test("the table of errors in the docs has a row of every status", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../gateway/surfaces/README.md")).text();
  const [, table = ""] = /^## Errors\n[\s\S]*?\| Status [^\n]*\n([\s\S]*?)\n\n/m.exec(page) ?? [];
  const told = new Set(
    [...table.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = ""]) => cell.split(", ")),
  );
  const own = Object.values(ERRORS).map(({ status }) => String(status));
  expect(own.filter((status) => !told.has(status))).toEqual([]);
});
