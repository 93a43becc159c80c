import { expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { openRecordStore } from "#gateway/stores/records.ts";
import { newId } from "#shared/ids.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

/** Whoever connects to it from now on; open connections are closed. */
async function alter(url: string, what: string): Promise<void> {
  const sql = connect(url, { name: "alter", max: 1, statementTimeoutMs: 60_000 });
  await sql`set default_transaction_read_only = off`;
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} ${what}`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  await sql.end();
}

test("while the server is read-only, calls continue, changes are 503 with the cause, and readiness says so", async () => {
  const gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "k" });
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).json();
  await alter(gateway.databaseUrl, "set default_transaction_read_only = on");
  await until(async () => (await ready()).database === "read_only");
  const session = newId();
  const call = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-session-id": session },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] }),
  });
  expect(call.status).toBe(200);
  const change = await fetch(`${gateway.url}/admin/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "l" }),
  });
  expect(change.status).toBe(503);
  expect(await change.text()).toContain("The database is read-only at the moment");
  expect(
    (await gateway.admin<{ data: { name: string }[] }>("GET", "/keys")).data.map(({ name }) => name),
  ).toContain("k");
  const body = await ready();
  expect(body).toMatchObject({
    status: "ready",
    can: { model_calls: true, administration: false, reports: true },
  });
  expect(body.reasons[0]).toStartWith("The database is read-only, as a standby or during a failover");
  await until(async () =>
    (await ready()).reasons.some((reason: string) =>
      /^Records are waiting in the spool: 1, the oldest for \d+ seconds: the server is read-only.*25006/.test(
        reason,
      ),
    ),
  );
  await alter(gateway.databaseUrl, "reset default_transaction_read_only");
  const sql = testSql(gateway.databaseUrl);
  await until(async () => (await sql`select 1 from requests where session = ${session}`).length === 1);
  await until(async () => (await ready()).can.administration);
  expect((await ready()).reasons).toEqual([]);
});

test("a role of few connections: the recorder has the first one, whatever others take later", async () => {
  const { url } = await testDatabase();
  await alter(url, "connection limit 2");
  const store = openRecordStore(url);
  const others = connect(url, { name: "others", max: 4, statementTimeoutMs: 60_000 });
  await until(
    async () =>
      (
        await others`select 1 from pg_stat_activity where application_name = 'tallygate recorder'
    and datname = current_database()`
      ).length === 1,
  );
  const full = await Promise.allSettled([others`select pg_sleep(2)`, others`select pg_sleep(2)`]);
  expect(full.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await store.insert([JSON.stringify(settledRow(openRow({})))]);
  await Promise.all([store.close(), others.end()]);
});
