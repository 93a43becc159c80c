import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { nextVersion } from "./marks.ts";
import { DATED_TABLES, markAll, TIMES } from "./rows.ts";
import { COPIED_TABLES } from "./schema.ts";

/** Tables with at most as many rows are copied whole when copying begins. */
const WHOLE_MAX = 10_000;
const WRITERS_MAX_MS = 10_000;
const LOOK_EVERY_MS = 50;

/**
 * From its end on, every row that comes or changes is marked. The first time, all rows of small tables are marked, too.
 * Returns the names of the others as long as `move-records` has not copied their rows. Any number of processes may do so.
 */
export async function beginMarking(sql: postgres.Sql): Promise<string[]> {
  await untilWritersEnd(sql);
  await sql.begin(async (tx) => {
    const [first] = await tx`
      select 1 from clickhouse_state where org_id = ${DEFAULT_ORG} and version = 0 for update`;
    if (!first) return;
    await nextVersion(tx);
    for (const name of COPIED_TABLES) {
      if (name in TIMES && (await isLarge(tx, name))) continue;
      await tx.unsafe(markAll(name), [DEFAULT_ORG]);
      if (name in TIMES)
        await tx`insert into clickhouse_moves (relation, moved_to) values (${name}, to_timestamp(0))`;
    }
  });
  const moved = await sql<{ relation: string }[]>`
    select relation from clickhouse_moves where org_id = ${DEFAULT_ORG}`;
  return DATED_TABLES.filter((name) => !moved.some(({ relation }) => relation === name));
}

/** Rows are no longer marked, and the marks are gone: what follows is not in ClickHouse until everything is moved again. */
export async function endMarking(sql: postgres.Sql): Promise<void> {
  await sql`delete from clickhouse_state where org_id = ${DEFAULT_ORG}`;
  await untilWritersEnd(sql);
  await sql`delete from clickhouse_marks where org_id = ${DEFAULT_ORG}`;
  await sql`delete from clickhouse_moves where org_id = ${DEFAULT_ORG}`;
}

/** Waits for the transactions that began before: they may not have seen that rows are to be marked. @throws Error after 10 s */
async function untilWritersEnd(sql: postgres.Sql): Promise<void> {
  const [now] = await sql<{ next: string }[]>`select pg_snapshot_xmax(pg_current_snapshot())::text as next`;
  for (let waitedMs = 0; waitedMs < WRITERS_MAX_MS; waitedMs += LOOK_EVERY_MS) {
    const [ended] = await sql`
      select 1 where pg_snapshot_xmin(pg_current_snapshot()) >= ${now?.next ?? "0"}::text::xid8`;
    if (ended) return;
    await Bun.sleep(LOOK_EVERY_MS);
  }
  throw new Error("a transaction in Postgres does not end");
}

async function isLarge(tx: postgres.TransactionSql, name: string): Promise<boolean> {
  const [row] = await tx`select 1 from ${tx(name)} where org_id = ${DEFAULT_ORG} offset ${WHOLE_MAX} limit 1`;
  return row !== undefined;
}
