import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import {
  openRow,
  removeOwnDirectories,
  settledRow,
  type TestRecorder,
  testRecorder,
} from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

let database: TestDatabase;
let gate: PostgresGate;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  sql = connect(database.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await gate.close();
  await database.close();
  removeOwnDirectories();
});

const BYTES_MAX = 1024 * 1024;

/** Opens calls until the recorder refuses one; returns those that it took, and the refusal. */
async function fill(recorder: TestRecorder): Promise<{ taken: RequestRow[]; refusal: unknown }> {
  const taken: RequestRow[] = [];
  for (;;) {
    const row = openRow();
    try {
      await recorder.open(row);
    } catch (refusal) {
      return { taken, refusal };
    }
    taken.push(row);
  }
}

async function statesOf(rows: readonly RequestRow[]): Promise<Record<string, number>> {
  const counts = await sql<{ state: string; n: number }[]>`
    select state, count(*)::int as n from requests where id = any(${rows.map(({ id }) => id)}) group by state`;
  return Object.fromEntries(counts.map(({ state, n }) => [state, n]));
}

test("a full spool refuses new calls at once, records the end of every running one, and recovers by itself", async () => {
  const recorder = await testRecorder({ databaseUrl: gate.url, bytesMax: BYTES_MAX });
  await gate.shut();
  const { taken, refusal } = await fill(recorder);
  expect(refusal).toMatchObject({ name: "GatewayError", type: "cannot_record" });
  expect(recorder.accepting()).toBe(false);
  expect(taken.length).toBeGreaterThan(200);

  // Every running call still ends on disk: the reserve is theirs.
  await Promise.all(taken.map((row) => recorder.settle(settledRow(row))));
  expect(recorder.stats()).toMatchObject({ backlog: taken.length, open: 0 });
  expect(recorder.log.lines.filter(({ level }) => level === "error")).toEqual([]);

  await gate.open();
  await recorder.flushed(60_000);
  expect(await statesOf(taken)).toEqual({ ok: taken.length });
  await until(recorder.accepting);
  await recorder.open(openRow());
  await recorder.close(2000);
});

test("ends of calls that not even the reserve holds are kept in memory and reach Postgres from there", async () => {
  const recorder = await testRecorder({ databaseUrl: gate.url, bytesMax: BYTES_MAX });
  await gate.shut();
  const { taken } = await fill(recorder);
  const refused = Array.from({ length: 2500 }, () => settledRow(openRow(), { state: "denied" }));
  await Promise.all(refused.map((row) => recorder.settle(row)));
  const running = settledRow(taken[0]!);
  // Not durable, so both resolve after 2 s only; but no client waits for ever.
  await recorder.settle(running);
  expect(recorder.log.lines).toContainEqual(
    expect.objectContaining({ level: "error", message: "the spool cannot be written", code: "SQLITE_FULL" }),
  );
  expect(recorder.stats()).toMatchObject({ backlog: 2501 });

  await gate.open();
  await recorder.flushed(60_000);
  expect(await statesOf([...refused, running])).toEqual({ denied: 2500, ok: 1 });
  await until(() => recorder.stats().open === taken.length - 1);
  await Promise.all(taken.slice(1).map((row) => recorder.settle(settledRow(row))));
  await recorder.flushed(60_000);
  expect(await statesOf(taken)).toEqual({ ok: taken.length });
  await until(recorder.accepting);
  await recorder.close(5000);
});
