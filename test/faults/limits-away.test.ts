import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { callOnce, limitedKey } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

// A gateway whose Postgres goes away and comes back, and a provider whose every call costs a cent.

const place = scratch();
let database: TestDatabase;
let gate: PostgresGate;
let gateway: GatewayProcess;
let upstream: ScriptedUpstream;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  upstream = await scriptedUpstream(({ body }, reply) => {
    const { model } = JSON.parse(body);
    const message = { role: "assistant", content: "done" };
    const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
    reply.json({ id: "c", object: "chat.completion", model, choices: [{ index: 0, message }], usage });
  });
  gateway = await startGateway({ dataDir: place.path, databaseUrl: gate.url });
  sql = testSql(database.url);
  await gateway.admin("PUT", "/providers/vendor", {
    kind: "openai-compatible",
    base_url: `${upstream.url}/v1`,
    allow_private_network: true,
    models: ["cent"],
  });
  await gateway.admin("POST", "/prices", {
    model: "cent",
    effective_from: "2020-01-01",
    input: "0",
    output: "0",
    per_call: "0.01",
  });
});

const call = (secret: string) => callOnce(gateway.url, secret, { model: "cent" });

/** The statuses of calls one after the other. */
async function statuses(secret: string, calls: number): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < calls; n++) {
    found.push((await call(secret)).status);
  }
  return found;
}

test("while Postgres is away a key lives on its lease, then its calls are 503; other keys notice nothing", async () => {
  const { secret, id } = await limitedKey(gateway, { budget_usd: "2", requests_per_minute: 1000 });
  const free = await limitedKey(gateway, {});
  expect(await statuses(secret, 2)).toEqual([200, 200]);
  await gate.shut();
  // A fiftieth of what is left is 3 cents.
  expect(await statuses(secret, 6)).toEqual([200, 200, 200, 503, 503, 503]);
  const refused = await call(secret);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await statuses(free.secret, 5)).toEqual([200, 200, 200, 200, 200]);
  await gate.open();
  await until(async () => (await call(secret)).status === 200);
  // What was spent on the lease counts like everything else.
  await until(async () => {
    const [row] = await sql`select
      (select sum(usd) from key_spend where key_id = ${id}) as spent,
      (select sum(cost_usd) from requests where key_id = ${id}) as recorded,
      (select count(*)::int from limit_holds where key_id = ${id}) as holds`;
    return row?.["spent"] === "0.06" && row["recorded"] === "0.06" && row["holds"] === 0;
  });
});

test("a Postgres that says nothing holds no call of a limited key for ever", async () => {
  const { secret } = await limitedKey(gateway, { concurrency: 10 });
  expect(await statuses(secret, 1)).toEqual([200]);
  gate.strand();
  // The connection stays silent for ever: only the gateway's own limit lets this call end.
  await call(secret);
  await until(async () => (await call(secret)).status === 200);
});
