import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { until } from "#test/support/until.ts";

const place = scratch();
let database: TestDatabase;
let gate: PostgresGate;
/** One that is killed, and then one in its place, on its files. */
let gateway: LocalGateway;
let mortal: GatewayProcess;
const dataDir = `${place.path}/gateway`;
let sql: postgres.Sql;
let secret: string;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  sql = testSql(database.url);
  mortal = await startGateway({ dataDir, databaseUrl: gate.url });
  gateway = mortal;
  ({ secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "agents" }));
  await gateway.admin("PUT", "/hook-policies/no-web", { tool: "WebFetch" });
});
const send = (event: string, id: string, tool = "Bash") =>
  fetch(`${gateway.url}/hooks/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": secret },
    body: JSON.stringify({ hook_event_name: event, session_id: "s1", tool_name: tool, tool_use_id: id }),
  });

const stored = (prefix: string) => sql<{ external_id: string; status: string }[]>`
  select external_id, status from tool_calls where external_id like ${`${prefix}%`} order by external_id`;

test("Postgres away: hooks are answered as ever, policies hold, and every call is one row afterwards", async () => {
  await gate.shut();
  for (let i = 0; i < 20; i++) {
    expect((await send("PreToolUse", `away-${i}`)).status).toBe(200);
    expect((await send("PostToolUse", `away-${i}`)).status).toBe(200);
  }
  expect(await (await send("PreToolUse", "away-denied", "WebFetch")).json()).toMatchObject({
    hookSpecificOutput: { permissionDecision: "deny" },
  });
  await gate.open();
  // A statement writes each call once: that it began and that it ended may come a moment apart.
  const ended = async () => (await stored("away-")).filter(({ status }) => status !== "pending");
  await until(async () => (await ended()).length === 21);
  const rows = await ended();
  expect(rows.filter(({ status }) => status === "ok")).toHaveLength(20);
  expect(rows.filter(({ status }) => status === "denied")).toHaveLength(1);
  expect(await stored("away-")).toHaveLength(21);
});

test("kill -9 among hooks: what was answered is stored, once", async () => {
  await gate.shut();
  const ids = Array.from({ length: 200 }, (_, i) => `kill-${i}`);
  const sending = ids.map(async (id) => {
    const answer = await send("PostToolUse", id).catch(() => null);
    return answer?.status === 200 ? id : null;
  });
  await Promise.race(sending);
  await mortal.kill();
  const answered = (await Promise.all(sending)).filter((id) => id !== null);
  await gate.open();
  gateway = await localGateway({ dataDir, databaseUrl: gate.url });
  await until(async () => {
    const rows = new Set((await stored("kill-")).map(({ external_id }) => external_id));
    return answered.every((id) => rows.has(id));
  });
  for (const id of ids) expect((await send("PostToolUse", id)).status).toBe(200);
  await until(async () => (await stored("kill-")).length === 200);
});
