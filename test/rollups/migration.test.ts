import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "#drizzle/migrate.ts";
import { testDatabase } from "#test/support/postgres.ts";

const LAST_BEFORE = 16;

/** An empty database as the version before `latencies` left it. */
async function olderDatabase() {
  const server = await testDatabase();
  const name = `t_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = connect(server.url, { name: "test", max: 1, statementTimeoutMs: 0 });
  await admin.unsafe(`create database ${name} encoding 'UTF8' template template0`);
  const url = server.url.replace(/\/t_[0-9a-f]+/, `/${name}`);
  const directory = mkdtempSync(join(tmpdir(), "tallygate-migrations-"));
  cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true });
  const journal = join(directory, "meta", "_journal.json");
  const { entries, ...rest } = await Bun.file(journal).json();
  await Bun.write(journal, JSON.stringify({ ...rest, entries: entries.slice(0, LAST_BEFORE + 1) }));
  await migrate(url, directory);
  rmSync(directory, { recursive: true });
  return {
    url,
    close: async () => {
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      await server.close();
    },
  };
}

test("a gateway that updates the tables and the reports of another never wait for each other", async () => {
  const older = await olderDatabase();
  const sql = connect(older.url, { name: "test", max: 2, statementTimeoutMs: 20_000 });
  /** As a report reads: how far rollups reach, and then cells. */
  const report = (pauseMs: number, seconds: number): Promise<unknown> =>
    sql.begin("isolation level repeatable read read only", async (own: postgres.TransactionSql) => {
      await own`select from rollup_state`;
      await Bun.sleep(pauseMs);
      await own`select pg_sleep(${seconds}) from (select count(*) from rollup_cells) c`;
    });
  const first = report(0, 2);
  await Bun.sleep(50);
  const second = report(300, 0);
  await Bun.sleep(50);
  const all = await Promise.allSettled([first, second, migrate(older.url)]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  await sql.end();
  await older.close();
}, 30_000);
