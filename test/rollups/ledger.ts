import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { openRecordStore } from "#gateway/stores/records.ts";
import { openRollups, type Rollups } from "#gateway/stores/reports/rollups.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

/** A database of its own, unless it is given, with what writes to it and reads from it. */
export async function ledger(given?: TestDatabase) {
  const database: TestDatabase = given ?? (await testDatabase());
  const sql: postgres.Sql = connect(database.url, { name: "test", max: 4, statementTimeoutMs: 60_000 });
  const store = openRecordStore(database.url);
  const rollups: Rollups = openRollups({ url: database.url });
  const rolled = reportRunner({ url: database.url, rollupsFrom: 0 });
  const single = reportRunner({ url: database.url, rollupsFrom: Number.POSITIVE_INFINITY });
  return {
    database,
    sql,
    rollups,
    rolled,
    single,
    write: async (rows: readonly RequestRow[]) => await store.insert(rows.map((row) => JSON.stringify(row))),
    marks: async () =>
      (await sql`select hour from rollup_marks order by hour, id`).map(({ hour }) => hour.toISOString()),
    close: async () => {
      await Promise.all([rollups.close(), rolled.close(), single.close(), store.close(), sql.end()]);
      await database.close();
    },
  };
}
export type Ledger = Awaited<ReturnType<typeof ledger>>;
