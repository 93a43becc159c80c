import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { scratch } from "#test/support/embedded.ts";
import { longTest } from "#test/support/fault-run.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { startToolServer, type TestToolServer } from "#test/support/tool-server/server.ts";
import { until } from "#test/support/until.ts";

const place = scratch();
let database: TestDatabase;
let gate: PostgresGate;
let sql: postgres.Sql;
let tools: TestToolServer;
let one: LocalGateway;
let other: LocalGateway;
let secret: string;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  sql = testSql(database.url);
  tools = startToolServer();
  one = await localGateway({ dataDir: `${place.path}/one`, databaseUrl: gate.url });
  other = await localGateway({ dataDir: `${place.path}/other`, databaseUrl: database.url });
  ({ secret } = await one.admin<{ secret: string }>("POST", "/keys", { name: "agents" }));
});
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()]);
});

const send = (gateway: LocalGateway, method: string, params: object, session: string) =>
  fetch(`${gateway.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "x-gateway-key": secret,
      "x-session-id": session,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
const listed = async (gateway: LocalGateway) =>
  (await (await send(gateway, "tools/list", {}, "lists")).text()).includes('"all__echo"');
const called = async (session: string, name = "all__echo", gateway = one) =>
  (await send(gateway, "tools/call", { name, arguments: { words: session } }, session)).text();
const rows = (session: string) => sql`select status from tool_calls where session = ${session}`;

test("a server that is registered at one replica is offered by the other within 5 s, and gone again as fast", async () => {
  const body = { name: "all", url: tools.url, allow_private_network: true };
  await one.admin("POST", "/mcp-servers", body);
  expect(await listed(one)).toBe(true);
  await until(() => listed(other));
  await one.admin("PATCH", "/mcp-servers/all", { enabled: false });
  expect(await listed(one)).toBe(false);
  await until(async () => !(await listed(other)));
  await one.admin("PATCH", "/mcp-servers/all", { enabled: true });
});

test("while Postgres is away calls of tools go on, and are recorded once when it is back", async () => {
  expect(await called("before")).toContain("before");
  await gate.shut();
  expect(await called("away")).toContain("away");
  expect(await rows("away")).toHaveLength(0);
  await gate.open();
  await until(async () => (await rows("away")).length > 0);
  expect(await rows("away")).toMatchObject([{ status: "ok" }]);
});

longTest(
  "wire/mcp (an end that no one saw is unknown), recorder/orphan-segment, faults/recorder, faults/kill-nine",
)("a call in which the gateway is killed is recorded as unknown when it is back", async () => {
  const killed = await startGateway({ dataDir: `${place.path}/killed`, databaseUrl: database.url });
  const before = tools.seen.length;
  const call = called("killed", "all__wait", killed).catch(() => "cut");
  await until(() => tools.seen.slice(before).some(({ body }) => body.includes('"wait"')));
  await killed.kill();
  expect(await call).toBe("cut");
  await killed.start();
  await until(async () => (await rows("killed")).length > 0);
  expect(await rows("killed")).toMatchObject([{ status: "unknown" }]);
});
