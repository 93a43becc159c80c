import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { openRow, settledRow, type TestRecorder, testRecorder } from "#test/support/recorder-kit.ts";
import { smallDisk } from "#test/support/small-disk.ts";
import { until } from "#test/support/until.ts";

// A disk of 24 MiB, which only root can make: elsewhere these tests are skipped, and the same states are reached
// through the spool's own cap in test/recorder/full-spool.test.ts.

const disk = smallDisk(24);
const { directory, mounted } = disk;

let database: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await database.close();
  disk.remove();
});

// A test that failed leaves no full disk to the next one.
afterEach(disk.free);

const refusedBy = (recorder: TestRecorder) =>
  recorder.open(openRow()).then(
    () => null,
    (error) => error.type,
  );

const openMany = async (recorder: TestRecorder, count: number): Promise<RequestRow[]> => {
  const rows = Array.from({ length: count }, () => openRow());
  await Promise.all(rows.map((row) => recorder.open(row)));
  return rows;
};

test.if(mounted)(
  "a disk that somebody else fills stops new calls; running ones end in Postgres; it recovers without a restart",
  async () => {
    const recorder = await testRecorder({ databaseUrl: database.url, directory });
    const running = await openMany(recorder, 400);
    disk.fill();
    await until(() => !recorder.accepting());
    expect(await refusedBy(recorder)).toBe("cannot_record");

    const settles = running.map((row) => recorder.settle(settledRow(row, { userLabel: "x".repeat(3000) })));
    await Promise.all(settles);
    await recorder.flushed(60_000);
    const [count] = await sql`select count(*)::int as n from requests where state = 'ok'
      and id = any(${running.map(({ id }) => id)})`;
    expect(count?.["n"]).toBe(400);
    expect(await refusedBy(recorder)).toBe("cannot_record");

    disk.free();
    await until(recorder.accepting);
    expect(await refusedBy(recorder)).toBeNull();
    await until(() => recorder.stats().open === 1);
    await recorder.close(5000);
  },
);

test.if(mounted)(
  "calls that end while somebody else fills the disk are not lost, before and after it is noticed",
  async () => {
    const recorder = await testRecorder({ databaseUrl: database.url, directory });
    const running = await openMany(recorder, 50);
    await until(recorder.accepting);
    disk.fill();
    // Before the next look at the disk.
    const settled = running.map((row) => recorder.settle(settledRow(row)));
    await Promise.all(settled);
    await recorder.flushed(60_000);
    const [count] = await sql`select count(*)::int as n from requests where state = 'ok'
      and id = any(${running.map(({ id }) => id)})`;
    expect(count?.["n"]).toBe(50);
    disk.free();
    await until(recorder.accepting);
    await recorder.close(5000);
  },
);
