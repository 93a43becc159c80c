import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { newId } from "#shared/ids.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import {
  openRow,
  ownDirectory,
  removeOwnDirectories,
  settledRow,
  testRecorder,
} from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

let database: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await database.close();
  removeOwnDirectories();
});

const statesOf = async (ids: string[]) => {
  const rows = await sql<
    { id: string; state: string }[]
  >`select id, state from requests where id = any(${ids})`;
  return new Map(rows.map(({ id, state }) => [id, state]));
};

test("two recorders of one directory leave each other's segments alone", async () => {
  const first = await testRecorder({ databaseUrl: database.url });
  const running = openRow();
  await first.open(running);
  const second = await testRecorder({ databaseUrl: database.url, directory: first.directory });
  await second.flushed(60_000);
  expect(await statesOf([running.id])).toEqual(new Map());
  await first.settle(settledRow(running));
  await first.close(2000);
  await second.close(2000);
  expect(await statesOf([running.id])).toEqual(new Map([[running.id, "ok"]]));
});

test("a file that is no segment is set aside and blocks nothing", async () => {
  const directory = ownDirectory();
  const name = `segment-${newId()}`;
  writeFileSync(
    join(directory, `${name}.db`),
    "this is not a database, but it is long enough to be read as one".repeat(99),
  );
  const recorder = await testRecorder({ databaseUrl: database.url, directory });
  const row = openRow();
  await recorder.open(row);
  await recorder.settle(settledRow(row));
  await recorder.flushed(60_000);
  expect(await statesOf([row.id])).toEqual(new Map([[row.id, "ok"]]));
  await until(() => recorder.stats().damage.files === 1 && recorder.stats().bytes > 0);
  await recorder.close(2000);
  expect(readdirSync(directory).sort()).toEqual([`${name}.damaged.db`, `${name}.damaged.json`]);
});

test("a lock left without a segment is removed, but not one that its process is about to take", async () => {
  const directory = ownDirectory();
  const [left, made] = ["left", "made"].map(() => `segment-${newId()}.lock`) as [string, string];
  for (const name of [left, made]) writeFileSync(join(directory, name), "");
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(directory, left), longAgo, longAgo);
  const recorder = await testRecorder({ databaseUrl: database.url, directory });
  const locks = readdirSync(directory).filter((name) => name.endsWith(".lock"));
  expect([locks.includes(left), locks.includes(made), locks.length]).toEqual([false, true, 2]);
  await recorder.close(1000);
  expect(readdirSync(directory)).toEqual([made]);
});
