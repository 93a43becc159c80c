import { beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { newId } from "#shared/ids.ts";
import type { Result, Spec } from "#shared/report.ts";
import { dumpOf, filesBelow, found } from "#test/support/canaries.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const NOWHERE = "http://127.0.0.1:9";
const CANARY = "canary-77af-of-a-prompt";
let gateway: WiredGateway;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE }, { LOG_LEVEL: "debug" });
  await gateway.admin("POST", "/hook-policies", {
    name: "no-web",
    tool: "Web*",
    reason: "The web is not for agents here.",
  });
});
type Sent = { headers?: Record<string, string>; method?: string };

async function send(body: unknown, { headers = {}, method = "POST" }: Sent = {}) {
  const answer = await fetch(`${gateway.url}/hooks/v1/events`, {
    method,
    headers: { "content-type": "application/json", "x-gateway-key": gateway.secret, ...headers },
    ...(method === "POST" && {
      body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

type Row = {
  external_id: string;
  status: string;
  channel: string;
  session: string | null;
  client: string;
  server: string | null;
  tool: string | null;
  latency_ms: number | null;
  cost_usd: string | null;
  tags: string[];
};

async function calls(filter: Record<string, string>): Promise<Row[]> {
  const query = new URLSearchParams(filter);
  return (await gateway.admin<{ data: Row[] }>("GET", `/tool-calls?${query}`)).data;
}

/** What Claude Code sends around a call, with a text in every place that holds one. */
const native = (session: string, id: string | null, event: string, more: object = {}) => ({
  session_id: session,
  transcript_path: `/home/someone/${CANARY}.jsonl`,
  cwd: `/home/someone/${CANARY}`,
  prompt_id: "p1",
  permission_mode: "default",
  hook_event_name: event,
  tool_name: "Bash",
  tool_input: { command: `echo ${CANARY}` },
  ...(id !== null && { tool_use_id: id }),
  ...more,
});

describe("native payloads", () => {
  test.each([
    ["PostToolUse", { tool_response: { stdout: CANARY }, duration_ms: 41.6 }, "ok", 42],
    ["PostToolUseFailure", { error: CANARY, is_interrupt: false, duration_ms: 7 }, "failed", 7],
    ["PostToolUseFailure", { error: CANARY, is_interrupt: true, duration_ms: 9 }, "unknown", 9],
    ["PermissionDenied", { reason: CANARY }, "denied", null],
  ])("PreToolUse, then %s %j: one row", async (event, more, status, latency) => {
    const session = newId();
    const id = `toolu_${newId()}`;
    expect(await send(native(session, id, "PreToolUse"))).toMatchObject({ status: 200, body: {} });
    expect(await calls({ session })).toMatchObject([
      { external_id: id, status: "pending", latency_ms: null },
    ]);
    expect(await send(native(session, id, event, more))).toMatchObject({ status: 200, body: {} });
    expect(await calls({ session })).toMatchObject([
      {
        external_id: id,
        status,
        channel: "hook",
        client: "claude-code",
        server: null,
        tool: "Bash",
        latency_ms: latency,
        cost_usd: null,
      },
    ]);
  });

  test("Claude Code may tell of a failed call that it ended as well: it failed", async () => {
    const session = newId();
    const id = `toolu_${newId()}`;
    const failed = native(session, id, "PostToolUseFailure", { error: CANARY, duration_ms: 9 });
    const ended = native(session, id, "PostToolUse", { tool_response: `Error: ${CANARY}`, duration_ms: 9 });
    for (const event of [ended, failed, ended]) await send(event);
    expect(await calls({ session })).toMatchObject([{ external_id: id, status: "failed", latency_ms: 9 }]);
  });

  test("a policy denies a call in the words of the event that asks, and never allows one", async () => {
    const session = newId();
    const web = { tool_name: "WebFetch" };
    const before = await send(native(session, "toolu_denied", "PreToolUse", web));
    expect(before.body).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "The web is not for agents here.",
      },
    });
    const asked = await send(native(session, null, "PermissionRequest", web));
    expect(asked.body).toEqual({
      hookSpecificOutput: {
        hookEventName: "PermissionRequest",
        decision: { behavior: "deny", message: "The web is not for agents here." },
      },
    });
    // The question comes without the call's id, and is about the same call.
    expect(await calls({ session })).toMatchObject([{ external_id: "toolu_denied", status: "denied" }]);
  });

  test("a denied question for permission is about the call that was told of right before", async () => {
    const session = newId();
    await gateway.admin("PATCH", "/hook-policies/no-web", { enabled: false });
    await send(native(session, "toolu_asked", "PreToolUse", { tool_name: "WebFetch" }));
    await gateway.admin("PATCH", "/hook-policies/no-web", { enabled: true });
    await send(native(session, null, "PermissionRequest", { tool_name: "WebFetch" }));
    expect(await calls({ session })).toMatchObject([{ external_id: "toolu_asked", status: "denied" }]);
  });

  test("the end of a call without an id does not end another call", async () => {
    const session = newId();
    await send(native(session, "toolu_running", "PreToolUse"));
    await send(native(session, null, "PostToolUseFailure"));
    const told = (await calls({ session })).map(({ external_id, status }) => [
      external_id === "toolu_running",
      status,
    ]);
    expect(told.sort()).toEqual([
      [false, "failed"],
      [true, "pending"],
    ]);
  });

  test("the end of a session makes its open calls unknown; what is told later counts", async () => {
    const session = newId();
    await send(native(session, `${session}-a`, "PreToolUse"));
    await send(native(session, `${session}-b`, "PreToolUse"));
    await send({ hook_event_name: "SessionEnd", session_id: session, reason: "other" });
    expect((await calls({ session })).map(({ status }) => status)).toEqual(["unknown", "unknown"]);
    await send(native(session, `${session}-a`, "PostToolUse", { duration_ms: 1 }));
    expect((await calls({ session })).map(({ status }) => status).sort()).toEqual(["ok", "unknown"]);
  });

  test("tools of a server lose its prefix", async () => {
    const session = newId();
    const names = ["mcp__github__create_issue", "mcp__plugin_x_y__run__all"];
    for (const [i, tool_name] of names.entries()) {
      await send(native(session, `${session}-${i}`, "PostToolUse", { tool_name }));
    }
    const rows = await calls({ session });
    expect(rows.map(({ server, tool }) => [server, tool]).reverse()).toEqual([
      ["github", "create_issue"],
      ["plugin_x_y", "run__all"],
    ]);
  });

  test("headers say more than the payload: client, session, tags", async () => {
    const session = newId();
    const headers = { "x-client": "codex", "x-session-id": session, "x-tags": "nightly, ci" };
    await send(native("of-the-payload", `${session}-x`, "PostToolUse"), { headers });
    expect(await calls({ session })).toMatchObject([{ client: "codex", tags: ["nightly", "ci"] }]);
  });

  test("Codex says the same of a turn, Gemini CLI in its own words and without ids", async () => {
    const session = newId();
    const { prompt_id: _, ...codex } = native(session, "call_codex", "PostToolUse", { turn_id: "t1" });
    await send(codex);
    const gemini = (event: string, more: object = {}) =>
      send(native(session, null, event, { prompt_id: undefined, tool_name: "read_file", ...more }));
    expect((await gemini("BeforeTool")).body).toEqual({});
    await gemini("AfterTool", { tool_response: { llmContent: CANARY, returnDisplay: CANARY } });
    await gemini("AfterTool", { tool_response: { llmContent: CANARY, error: { message: CANARY } } });
    const denied = await gemini("BeforeTool", { tool_name: "WebFetch" });
    expect(denied.body).toEqual({ decision: "deny", reason: "The web is not for agents here." });
    const rows = await calls({ session });
    expect(rows.map(({ client, tool, status }) => [client, tool, status]).reverse()).toEqual([
      ["codex", "Bash", "ok"],
      ["gemini-cli", "read_file", "ok"],
      ["gemini-cli", "read_file", "failed"],
      ["gemini-cli", "WebFetch", "denied"],
    ]);
  });

  test("empty headers say nothing", async () => {
    const session = newId();
    const headers = { "x-client": "", "x-session-id": "" };
    await send(native(session, `${session}-x`, "PostToolUse"), { headers });
    expect(await calls({ session })).toMatchObject([{ client: "claude-code" }]);
  });

  test("every other event is answered {} and leaves no row", async () => {
    const session = newId();
    const events = [
      { hook_event_name: "UserPromptSubmit", prompt: CANARY },
      { hook_event_name: "Stop", last_assistant_message: CANARY },
      { hook_event_name: "Notification", message: CANARY },
      { hook_event_name: "constructor" },
      { hook_event_name: CANARY },
    ];
    for (const event of events) {
      expect(await send({ session_id: session, ...event })).toMatchObject({ status: 200, body: {} });
    }
    expect(await calls({ session })).toEqual([]);
  });
});

describe("the generic form", () => {
  // Many languages write what is absent so, and an agent does not send a refused list again.
  test("a member that is null is absent", async () => {
    const id = newId();
    const absent = {
      session_id: null,
      client: null,
      server: null,
      decision: null,
      ts: null,
      duration_ms: null,
    };
    const event = { id, tool: "Bash", status: "ok", ...absent };
    expect(await send({ events: [event] })).toMatchObject({ status: 200, body: {} });
    expect(await calls({ external_id: id })).toMatchObject([
      { status: "ok", server: null, latency_ms: null },
    ]);
    expect((await send({ events: [{ ...event, tool: null }] })).status).toBe(400);
  });

  test("is idempotent by id, in any order", async () => {
    const session = newId();
    const event = (status: string, ms: number) => ({
      id: `${session}-1`,
      session_id: session,
      client: "copilot-cli",
      tool: "create_issue",
      server: "github",
      status,
      ts: new Date(Date.now() - 60_000 + ms).toISOString(),
      ...(status === "ok" && { duration_ms: 250 }),
    });
    const events = [event("ok", 300), event("pending", 0), event("ok", 300)];
    for (const sent of [events, events.toReversed()]) {
      expect(await send({ events: sent })).toMatchObject({ status: 200, body: {} });
    }
    expect(await calls({ session })).toMatchObject([
      { status: "ok", client: "copilot-cli", server: "github", tool: "create_issue", latency_ms: 250 },
    ]);
  });

  test("decisions: deny is denied, allow is pending; a policy's denial comes back by id", async () => {
    const session = newId();
    const of = (id: string, tool: string, decision: string) => ({ id, session_id: session, tool, decision });
    const answer = await send({
      events: [of("d1", "Bash", "deny"), of("d2", "Bash", "allow"), of("d3", "WebSearch", "ask")],
    });
    expect(answer.body).toEqual({
      decisions: [{ id: "d3", decision: "deny", reason: "The web is not for agents here." }],
    });
    const rows = await calls({ session });
    expect(new Map(rows.map((row) => [row.external_id, row.status]))).toEqual(
      new Map([
        ["d1", "denied"],
        ["d2", "pending"],
        ["d3", "denied"],
      ]),
    );
  });

  const EVENT = { id: "x", tool: "t", status: "ok" };
  test.each([
    [{ events: Array(101).fill(EVENT) }, "/events"],
    [{ events: [{ ...EVENT, id: undefined }] }, "/events/0/id"],
    [{ events: [{ ...EVENT, id: "a b" }] }, "/events/0/id"],
    [{ events: [{ ...EVENT, status: "great" }] }, "/events/0/status"],
    [{ events: [{ ...EVENT, status: undefined }] }, "/events/0/status"],
    [{ events: [EVENT, { ...EVENT, ts: "yesterday" }] }, "/events/1/ts"],
    [{ events: [{ ...EVENT, ts: "2020-01-01" }] }, "/events/0/ts"],
    [{ events: [{ ...EVENT, duration_ms: -1 }] }, "/events/0/duration_ms"],
    [{ events: {} }, "/events"],
    [{}, "events"],
  ])("%# is refused by the member's name", async (body, member) => {
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect((answer.body as { error: { message: string } }).error.message).toContain(member);
  });
});

describe("statuses", () => {
  test("any of the three headers carries the key; without one it is 401", async () => {
    const event = native("s", "toolu_k", "UserPromptSubmit");
    const none = { "x-gateway-key": "" };
    expect((await send(event, { headers: none })).status).toBe(401);
    expect((await send(event, { headers: { ...none, "x-api-key": gateway.secret } })).status).toBe(200);
    const bearer = { ...none, authorization: `Bearer ${gateway.secret}` };
    expect((await send(event, { headers: bearer })).status).toBe(200);
  });

  test("404 while hooks are switched off, 405 for another method", async () => {
    expect((await send(null, { method: "GET" })).status).toBe(405);
    await gateway.admin("PATCH", "/settings", { hooks: false });
    const off = await send(native("s", "toolu_off", "PostToolUse"));
    await gateway.admin("PATCH", "/settings", { hooks: true });
    expect(off.status).toBe(404);
    expect(await calls({ external_id: "toolu_off" })).toEqual([]);
  });

  const MAX = 4 * 1024 * 1024;
  const EVENTS = '{"events":[';
  test.each([
    ["over 4 MiB", Buffer.alloc(MAX + 1, " "), 413, {}],
    ["a gzip bomb", gzipSync(Buffer.alloc(256 * 1024 * 1024)), 415, { "content-encoding": "gzip" }],
    ["deep arrays", Buffer.alloc(MAX, "["), 400, {}],
    ["deep objects in a native payload", Buffer.from(`{"x":${'{"a":'.repeat(700_000)}`), 400, {}],
    ["deep events", Buffer.from(`${EVENTS}${"[".repeat(1_000_000)}`), 400, {}],
    ["a million events", Buffer.from(`${EVENTS}${"{},".repeat(1_200_000)}{}]}`), 413, {}],
    ["300,000 events", Buffer.from(`${EVENTS}${"{},".repeat(300_000)}{}]}`), 413, {}],
    ["20,000 events", Buffer.from(`${EVENTS}${"{},".repeat(20_000)}{}]}`), 400, {}],
    ["200,000 members", Buffer.from(`{${Array.from({ length: 200_000 }, (_, i) => `"${i}":1`)}}`), 400, {}],
    ["no JSON", Buffer.from("hook"), 400, {}],
  ])("%s is refused", async (_, bytes, status, headers) => {
    expect((await send(new Uint8Array(bytes), { headers })).status).toBe(status);
  });
});

test("hook policies: created, replaced, changed, deleted, in force at once, and each change in the audit", async () => {
  const body = { tool: "Edit*", reason: "Read only." };
  const made = await gateway.admin("POST", "/hook-policies", { name: "read-only", ...body });
  expect(made).toMatchObject({
    name: "read-only",
    enabled: true,
    client: null,
    server: null,
    action: "deny",
    ...body,
  });
  const denied = async () =>
    "hookSpecificOutput" in
    (await send(native(newId(), newId(), "PreToolUse", { tool_name: "EditNotebook" }))).body;
  expect(await denied()).toBe(true);
  await gateway.admin("PATCH", "/hook-policies/read-only", { client: "codex" });
  expect(await denied()).toBe(false);
  expect(await gateway.admin("PUT", "/hook-policies/read-only", {})).toMatchObject({
    client: null,
    tool: "*",
  });
  expect(await denied()).toBe(true);
  await gateway.admin("DELETE", "/hook-policies/read-only");
  expect(await denied()).toBe(false);
  await expect(gateway.admin("GET", "/hook-policies/read-only")).rejects.toThrow("404");
  await expect(gateway.admin("POST", "/hook-policies", { name: "x", action: "allow" })).rejects.toThrow(
    "/action",
  );
  const audit = await gateway.admin<{ data: { action: string; subject: string }[] }>("GET", "/audit?limit=4");
  expect(audit.data.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    "hook_policy.deleted read-only",
    "hook_policy.set read-only",
    "hook_policy.set read-only",
    "hook_policy.set read-only",
  ]);
});

test("reports: outcomes by tool, and money that nobody knows is null", async () => {
  const session = newId();
  await send({
    events: [{ id: newId(), session_id: session, tool: "Bash", status: "ok", duration_ms: 100 }],
  });
  await send({ events: [{ id: newId(), session_id: session, tool: "Bash", status: "failed" }] });
  await send({ events: [{ id: newId(), session_id: session, tool: "Edit", decision: "deny" }] });
  const spec: Spec = {
    source: "tool_calls",
    dimensions: ["tool"],
    measures: ["calls", "ok", "failed", "denied", "unpriced_calls", "cost_usd", "latency_avg_ms", "sessions"],
    filters: { session: [session] },
    range: "7d",
    compare: "none",
    view: "table",
  };
  const answer = await fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ spec }),
  });
  expect(answer.status).toBe(200);
  const { rows } = (await answer.json()) as Result;
  expect(rows.map(({ groups, current }) => [groups, current])).toEqual([
    [
      ["Bash"],
      {
        calls: 2,
        ok: 1,
        failed: 1,
        denied: 0,
        unpriced_calls: 2,
        cost_usd: null,
        latency_avg_ms: 100,
        sessions: 1,
      },
    ],
    [
      ["Edit"],
      {
        calls: 1,
        ok: 0,
        failed: 0,
        denied: 1,
        unpriced_calls: 0,
        cost_usd: 0,
        latency_avg_ms: null,
        sessions: 1,
      },
    ],
  ] as never);
});

test("no text that came with a hook is in a table, a log line or a file", async () => {
  await calls({});
  const canary = { name: "canary", text: CANARY };
  for (const [, text] of await dumpOf(gateway.sql)) expect(found([canary], text)).toEqual([]);
  expect(found([canary], gateway.log())).toEqual([]);
  for (const [, bytes] of filesBelow(gateway.dataDir)) expect(found([canary], bytes)).toEqual([]);
});
