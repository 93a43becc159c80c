import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { newId } from "#shared/ids.ts";
import { doneVendor, offerCent } from "#test/limits/cent-vendor.ts";
import { callOnce, limitedKey, type Outcome } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { isFaultRun, longTest } from "#test/support/fault-run.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { startWorkers, type WorkersProcess } from "#test/support/workers-process.ts";

// A launcher with two workers on one port. Each test leaves two workers that serve.

const ROUNDS = isFaultRun ? 8 : 1;

const place = scratch();
let database: TestDatabase;
let upstream: ScriptedUpstream;
let gateway: WorkersProcess;
let sql: postgres.Sql;
let secret: string;
/** Called when the provider is asked; its answer waits for the result. */
let hold = (): Promise<void> => Bun.sleep(5);

beforeAll(async () => {
  database = await testDatabase();
  sql = testSql(database.url);
  upstream = await doneVendor(() => hold());
  gateway = await startWorkers(2, { dataDir: join(place.path, "data"), databaseUrl: database.url });
  await offerCent(gateway, upstream.url);
  ({ secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "clients" }));
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

/** Null where the worker died under the call. */
const call = (session: string, key = secret): Promise<Outcome | null> =>
  callOnce(gateway.url, key, { model: "cent", session }).catch(() => null);

const parallel = (calls: number, key = secret) =>
  Promise.all(Array.from({ length: calls }, () => call(newId(), key)));

const count = (outcomes: (Outcome | null)[], status: number): number =>
  outcomes.filter((outcome) => outcome?.status === status).length;

/** The calls that `/metrics` counts, asked over a new connection. */
async function countedCalls(): Promise<number> {
  const answer = await fetch(`${gateway.url}/metrics`, {
    keepalive: false,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith("tallygate_calls_total"));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const recorded = async (): Promise<number> => (await sql`select count(*)::int as n from requests`)[0]?.["n"];

test("calls are spread over both workers, and /metrics is their sum, whichever worker answers", async () => {
  const before = await countedCalls();
  expect(count(await parallel(100), 200)).toBe(100);
  const shares = gateway.workers().map((worker) => gateway.recordedBy(worker));
  expect(shares.length).toBe(2);
  expect(Math.min(...shares)).toBeGreaterThan(10);
  // Answered by either: of ten new connections, all go to one worker in two of a thousand runs.
  for (let n = 0; n < 10; n++) expect(await countedCalls()).toBe(before + 100);
  await until(async () => (await recorded()) === before + 100);
});

test("a change is in force in both workers when it is answered", async () => {
  for (let n = 0; n < ROUNDS; n++) {
    const route = `route-${n}`;
    await gateway.admin("PUT", `/routes/${route}`, { surface: "chat", provider: "vendor", model: "cent" });
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => callOnce(gateway.url, secret, { model: route })),
    );
    expect(count(outcomes, 200)).toBe(6);
    await gateway.admin("DELETE", `/routes/${route}`);
    const refused = await Promise.all(
      Array.from({ length: 6 }, () => callOnce(gateway.url, secret, { model: route })),
    );
    expect(count(refused, 200)).toBe(0);
  }
});

longTest("faults/limits")("a limit on requests is exact over both workers", async () => {
  const { secret: key } = await limitedKey(gateway, { requests_per_minute: 40 });
  const outcomes = await parallel(120, key);
  expect([count(outcomes, 200), count(outcomes, 429)]).toEqual([40, 80]);
});

longTest("faults/limits")("a budget is exact over both workers", async () => {
  const { secret: key, id } = await limitedKey(gateway, { budget_usd: "0.25" });
  for (let n = 0; n < 3; n++) await parallel(40, key);
  const [row] = await until(async () => {
    const found = await sql`select sum(cost_usd)::text as usd from requests where key_id = ${id}`;
    return Number(found[0]?.["usd"]) > 0.24 ? found : null;
  });
  expect(Number(row?.["usd"])).toBe(0.25);
});

test("the background rounds are done by one worker, and by the other one when that is killed", async () => {
  const leaderIs = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes("does the background rounds"))
      .map((line): number => JSON.parse(line).pid);
  const rounders = async () =>
    (
      await sql`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name like '%rollups%'`
    )[0]?.["n"];
  await until(() => leaderIs().length === 1);
  await until(async () => (await rounders()) === 1);
  const [leader] = leaderIs();
  const other = gateway.workers().find((worker) => worker !== leader);
  process.kill(leader ?? 0, "SIGKILL");
  await until(() => leaderIs().length === 2);
  await until(async () => (await rounders()) === 1);
  await until(() => gateway.logged("process is ready again") === 1);
  expect(gateway.workers()).toContain(other ?? 0);
  expect(leaderIs()[1]).not.toBe(leader ?? 0);
});

test("a killed worker's spool is taken over while the other serves; no answered call is lost or doubled, and no counter falls", async () => {
  const answered: string[] = [];
  let running = true;
  const callers = Array.from({ length: 6 }, async () => {
    while (running) {
      const session = newId();
      if (!isFaultRun) await Bun.sleep(10);
      const outcome = await call(session);
      if (outcome?.status === 200) answered.push(session);
      // A call may break with its worker. The other one refuses none, nor does the next.
      else if (outcome) throw new Error(`${outcome.status} ${outcome.message}`);
    }
  });
  const restarts = gateway.logged("process is ready again");
  for (let round = 1; round <= ROUNDS; round++) {
    const goal = answered.length + 60;
    await until(() => answered.length > goal);
    const counted = await countedCalls();
    const takeovers = gateway.logged("took over the spool of a dead process");
    const [victim] = gateway.workers();
    process.kill(victim ?? 0, "SIGKILL");
    const atDeath = answered.length;
    await until(() => answered.length > atDeath + 20);
    expect(await countedCalls()).toBeGreaterThanOrEqual(counted);
    await until(() => gateway.logged("took over the spool of a dead process") > takeovers);
    await until(() => gateway.logged("process is ready again") === restarts + round);
  }
  running = false;
  await Promise.all(callers);
  const sessions = async () =>
    (await sql<{ session: string }[]>`select session from requests where session = any(${answered})`)
      .map(({ session }) => session)
      .sort();
  await until(async () => (await sessions()).length >= answered.length);
  expect(await sessions()).toEqual(answered.toSorted());
});

test("SIGTERM lets the calls of both workers end, and leaves nothing in the spool", async () => {
  const gate = Promise.withResolvers<void>();
  hold = () => gate.promise;
  const [seen, stopped] = [upstream.seen.length, gateway.logged("gateway stopped")];
  const last = parallel(30);
  await until(() => upstream.seen.length === seen + 30);
  const ended = gateway.stop();
  await until(() =>
    fetch(`${gateway.url}/healthz`, { keepalive: false }).then(
      () => false,
      () => true,
    ),
  );
  gate.resolve();
  expect(count(await last, 200)).toBe(30);
  await ended;
  expect(gateway.logged("gateway stopped")).toBe(stopped + 2);
  expect(readdirSync(join(place.path, "data/spool"))).toEqual([]);
});
