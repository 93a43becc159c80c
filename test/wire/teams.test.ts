import { beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import type { Result, Spec } from "#shared/report.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { metricsExport, sum } from "#test/support/otlp.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const NOWHERE = "http://127.0.0.1:9";
let gateway: WiredGateway;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
  await gateway.admin("PUT", "/routes/echo", { surface: "chat", provider: "echo", model: "echo" });
  for (const [name, body] of [
    ["division", { cost_center: "CC-1" }],
    ["platform", { parent: "division" }],
    ["product", { cost_center: "CC-2" }],
  ] as const) {
    await gateway.admin("PUT", `/teams/${name}`, body);
  }
});

type Key = { id: string; secret: string };
const keyIn = (team: string | null) => gateway.admin<Key>("POST", "/keys", { name: newId(), team });

async function post(secret: string, path: string, body: object, session: string): Promise<void> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": secret, "x-session-id": session },
    body: JSON.stringify(body),
  });
  expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.any(String)]);
}

async function chat(secret: string): Promise<string> {
  const session = newId();
  const messages = [{ role: "user", content: "hello" }];
  await post(secret, "/v1/chat/completions", { model: "echo", messages }, session);
  return session;
}

type View = { team: string | null; cost_center: string | null };
async function viewsOf(path: string, query: Record<string, string>): Promise<View[]> {
  const { data } = await gateway.admin<{ data: View[] }>("GET", `/${path}?${new URLSearchParams(query)}`);
  return data.map(({ team, cost_center }) => ({ team, cost_center }));
}

test("a record keeps the team and the cost centre of its call, whatever becomes of them later", async () => {
  const key = await keyIn("platform");
  const before = await chat(key.secret);
  const was = [{ team: "platform", cost_center: "CC-1" }];
  expect(await viewsOf("requests", { session: before })).toEqual(was);

  await gateway.admin("PATCH", `/keys/${key.id}`, { team: "product" });
  expect(await viewsOf("requests", { session: await chat(key.secret) })).toEqual([
    { team: "product", cost_center: "CC-2" },
  ]);
  await gateway.admin("PATCH", `/keys/${key.id}`, { team: null });
  expect(await viewsOf("requests", { session: await chat(key.secret) })).toEqual([
    { team: null, cost_center: null },
  ]);
  expect(await viewsOf("requests", { session: before })).toEqual(was);
});

test("a team moves with its next call, and its past stays where it was", async () => {
  const key = await keyIn("platform");
  const sessions = [await chat(key.secret)];
  await gateway.admin("PATCH", "/teams/platform", { parent: "product" });
  sessions.push(await chat(key.secret));
  await gateway.admin("PATCH", "/teams/platform", { parent: "division" });
  const within = (team: string) =>
    Promise.all(sessions.map(async (session) => (await viewsOf("requests", { session, team })).length));
  expect(await within("platform")).toEqual([1, 1]);
  expect(await within("division")).toEqual([1, 0]);
  expect(await within("product")).toEqual([0, 1]);
  expect(await viewsOf("requests", { session: sessions[1] ?? "" })).toEqual([
    { team: "platform", cost_center: "CC-2" },
  ]);
});

test("tool calls and agents' own metrics have the team of the key that sent them", async () => {
  const { secret } = await keyIn("platform");
  const session = newId();
  const event = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: newId(), tool_input: {} };
  await post(secret, "/hooks/v1/events", { session_id: session, ...event }, session);
  expect(await viewsOf("tool-calls", { session, team: "division" })).toEqual([
    { team: "platform", cost_center: "CC-1" },
  ]);
  expect(await viewsOf("tool-calls", { session, team: "product" })).toEqual([]);

  const point = { asInt: 1, labels: { "gen_ai.token.type": "input", "session.id": session } };
  const metrics = metricsExport({ "service.name": "agent" }, [sum("gen_ai.client.token.usage", [point])]);
  await post(secret, "/otel/v1/metrics", metrics, session);
  expect([
    ...(await gateway.sql`select teams, cost_center from agent_points where session = ${session}`),
  ]).toEqual([{ teams: ["platform", "division"], cost_center: "CC-1" }]);
});

test("a key without a team counts for its owner's, found by the e-mail in any case", async () => {
  await gateway.sql`
    insert into people (id, email, name, team, created_at, updated_at)
    values (${newId()}, 'ada@example.com', 'Ada', 'product', now(), now())`;
  const owner = "Ada@Example.com";
  const own = await gateway.admin<Key>("POST", "/keys", { name: newId(), owner });
  const lent = await gateway.admin<Key>("POST", "/keys", { name: newId(), owner, team: "platform" });
  expect(await viewsOf("requests", { session: await chat(own.secret) })).toEqual([
    { team: "product", cost_center: "CC-2" },
  ]);
  expect(await viewsOf("requests", { session: await chat(lent.secret) })).toEqual([
    { team: "platform", cost_center: "CC-1" },
  ]);
  const me = await fetch(`${gateway.url}/v1/me`, { headers: { "x-api-key": lent.secret } });
  expect(await me.json()).toMatchObject({ email: "ada@example.com", team: "product" });
});

async function report(spec: Partial<Spec>): Promise<Result> {
  const whole = {
    dimensions: [],
    filters: {},
    range: { from: null, to: null },
    compare: "none",
    view: "table",
  };
  const answer = await fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ spec: { ...whole, ...spec } }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Result;
}

test("reports group by team and cost centre, and a filter by a team includes those below it", async () => {
  const tag = newId();
  for (const team of ["platform", "division", "product", null]) {
    const { secret } = await keyIn(team);
    const headers = { "content-type": "application/json", "x-gateway-key": secret, "x-tags": tag };
    const body = JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] });
    expect(
      (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body })).status,
    ).toBe(200);
  }
  const asked: Partial<Spec> = { source: "requests", measures: ["requests"] };
  const groups = async (dimension: "team" | "cost_center", filters: Spec["filters"] = {}) => {
    let rows: [string, unknown][] = [];
    await until(async () => {
      const result = await report({ ...asked, dimensions: [dimension], filters: { tag: [tag], ...filters } });
      rows = result.rows.map((row) => [row.groups[0] ?? "", row.current?.requests]);
      return filters.team !== undefined || rows.length > 2;
    });
    return Object.fromEntries(rows);
  };
  expect(await groups("team")).toEqual({ "(none)": 1, division: 1, platform: 1, product: 1 });
  expect(await groups("cost_center")).toEqual({ "(none)": 1, "CC-1": 2, "CC-2": 1 });
  expect(await groups("team", { team: ["division"] })).toEqual({ division: 1, platform: 1 });
  expect(await groups("team", { team: ["platform", "(none)"] })).toEqual({ "(none)": 1, platform: 1 });
});

test("coverage tells since when there are teams", async () => {
  await gateway.sql`
    insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, key_id,
      client, tags, usage_source, unpriced, partial)
    values (${newId()}, '2026-01-05T00:00:00Z', 'chat.completions', 'api', 'ok', false, 1, 'echo', 'model',
      ${newId()}, 'old', '{}', 'none', false, false)`;
  for (const dimension of ["team", "cost_center"] as const) {
    const { coverage } = await report({
      source: "requests",
      measures: ["requests"],
      dimensions: [dimension],
    });
    expect(coverage).toMatchObject({ rowsBefore: 1, dimensionsSince: expect.stringMatching(/^20/) });
    expect(coverage?.dimensionsSince).not.toBe("2026-01-05T00:00:00.000Z");
  }

  // Its manager is told nothing of calls from before that, which may be anyone's.
  const token = { name: "division", role: "manager", team: "division" };
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/tokens", token);
  const headers = { authorization: `Bearer ${secret}` };
  const read = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/reports${path}`, { ...init, headers }).then((answer) => answer.json());
  const spec = { source: "requests", dimensions: ["session"], measures: ["requests"], filters: {} };
  const how = { range: { from: null, to: null }, compare: "none", view: "table" };
  const alone = await read("/query", { method: "POST", body: JSON.stringify({ spec: { ...spec, ...how } }) });
  const { subscription } = await read("?from=2026-01-01");
  expect([alone.coverage?.rowsBefore, subscription.coverage?.rowsBefore]).toEqual([0, 0]);
});

test("tool calls and agents' metrics are reported by team", async () => {
  for (const [source, measure] of [
    ["tool_calls", "calls"],
    ["agent_metrics", "input_tokens"],
  ] as const) {
    const dimensions = ["team", "cost_center"] as const;
    const { rows } = await report({
      source,
      measures: [measure],
      dimensions: [...dimensions],
      filters: { team: ["division"] },
    });
    expect([source, rows.map((row) => [row.groups, row.current?.[measure]])]).toEqual([
      source,
      [[["platform", "CC-1"], 1]],
    ]);
  }
});
