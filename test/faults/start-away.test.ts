import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { doneVendor, offerCent } from "#test/limits/cent-vendor.ts";
import { callOnce } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, listeningGateway, localGateway } from "#test/support/local-gateway.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { postgresGate } from "#test/support/postgres-gate.ts";
import { until } from "#test/support/until.ts";

const CREDENTIAL = "the-vendor-credential-of-this-suite";
/** Sealed text is base64url, which has no @: three letters may come in it by chance. */
const OWNER = "ada@example.com";

type Readiness = {
  status: string;
  database: string;
  directory: string;
  can: { model_calls: boolean; administration: boolean };
  reasons: string[];
};

async function readiness(url: string): Promise<{ status: number; body: Readiness }> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as Readiness };
}

/** Once it serves from the database, and lacks nothing. */
const untilWhole = (url: string) =>
  until(async () => {
    const { can, directory, reasons } = (await readiness(url)).body;
    return can.administration && directory === "database" && reasons.length === 0;
  });

const adminStatus = async (url: string): Promise<number> =>
  (await fetch(`${url}/admin/v1/keys`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).status;

test("a gateway that starts while Postgres is away serves known keys from its snapshot, and needs no restart", async () => {
  const place = scratch();
  const seen: (string | undefined)[] = [];
  const upstream = await doneVendor(({ headers }) => seen.push(headers["authorization"]));
  const database = await testDatabase();
  const gate = await postgresGate(database.url);
  const options = { dataDir: join(place.path, "gateway"), databaseUrl: gate.url };
  const { dataDir } = options;
  const first = await localGateway(options);
  const secret = await furnish(first, upstream.url);
  await first.stop();
  await gate.shut();
  const sealed = readFileSync(join(dataDir, "directory.snapshot"), "utf8");
  for (const text of [CREDENTIAL, OWNER, upstream.url]) expect(sealed).not.toContain(text);

  const gateway = await listeningGateway(options);
  // It says that it starts until its limits have tried to reach the database.
  const ready = await until(async () => {
    const found = await readiness(gateway.url);
    return found.status === 200 ? found : null;
  });
  expect(ready).toMatchObject({
    body: {
      database: "away",
      directory: "snapshot",
      can: { model_calls: true, administration: false },
      reasons: [expect.stringContaining("The database is away")],
    },
  });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  expect(await adminStatus(gateway.url)).toBe(503);
  const answers = [
    await callOnce(gateway.url, secret, { model: "helper" }),
    await callOnce(gateway.url, secret, { model: "helper", content: "say PINEAPPLE" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 403]);
  expect(seen).toEqual([`Bearer ${CREDENTIAL}`]);

  await gate.open();
  await gateway.ready;
  await untilWhole(gateway.url);
  expect(await adminStatus(gateway.url)).toBe(200);
  // What was called meanwhile is recorded, with its cost.
  const sql = testSql(database.url);
  const recorded = () =>
    sql`select count(*) || ' ' || sum(cost_usd) as found from requests where route = 'helper'`;
  await until(async () => (await recorded())[0]?.["found"] === "2 0.01");
});

async function furnish(gateway: LocalGateway, upstream: string): Promise<string> {
  await offerCent(gateway, upstream, CREDENTIAL);
  await gateway.admin("PUT", "/routes/helper", { surface: "chat", provider: "vendor", model: "cent" });
  await gateway.admin("PUT", "/guardrails/fruit", { action: "block", match: { pattern: "PINEAPPLE" } });
  const limits = { budget_usd: "5", concurrency: 3 };
  return (await gateway.admin<{ secret: string }>("POST", "/keys", { name: OWNER, limits })).secret;
}

test("without a snapshot it listens, says why it is not ready, and begins when Postgres is there, migrations included", async () => {
  const database = await testDatabase();
  const gate = await postgresGate(database.url);
  const dataDir = join(scratch().path, "gateway");
  const options = { dataDir, databaseUrl: gate.url, env: { SPOOL_SYNC: "full" } };
  const first = await localGateway(options);
  const { secret } = await first.admin<{ secret: string }>("POST", "/keys", { name: "ada" });
  await first.stop();
  // As on another machine: nothing but the key is known, and the database has no tables.
  rmSync(join(dataDir, "directory.snapshot"));
  const sql = testSql(database.url);
  await sql.unsafe("drop schema public cascade; drop schema if exists drizzle cascade; create schema public");
  await gate.shut();

  const gateway = await listeningGateway(options);
  expect(await readiness(gateway.url)).toMatchObject({
    status: 503,
    body: {
      status: "not ready",
      database: "away",
      directory: "none",
      can: { model_calls: false },
      reasons: ["The database is away, and there is no snapshot of the configuration in DATA_DIR."],
    },
  });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  const refused = await callOnce(gateway.url, secret, { model: "echo" });
  expect([refused.status, refused.type, refused.headers.get("retry-after")]).toEqual([
    503,
    "server_error",
    "5",
  ]);
  const messages = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": secret, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", max_tokens: 5, messages: [{ role: "user", content: "hello" }] }),
  });
  expect(messages.status).toBe(503);
  expect(await messages.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });

  await gate.open();
  await gateway.ready;
  await untilWhole(gateway.url);
  await until(async () => (await sql`select 1 from keys`).length === 1);
});
