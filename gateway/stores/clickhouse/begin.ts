import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { nextVersion } from "./marks.ts";
import { DATED_TABLES, markAll, TIMES } from "./rows.ts";
import { COPIED_TABLES, type CopiedTable } from "./schema.ts";

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
    for (const name of COPIED_TABLES) await markSmall(tx, name);
  });
  const moved = await sql<{ relation: string }[]>`
    select relation from clickhouse_moves where org_id = ${DEFAULT_ORG}`;
  return DATED_TABLES.filter((name) => !moved.some(({ relation }) => relation === name));
}

/** Marks all rows of a table, unless it is large and `move-records` copies them. */
export async function markSmall(tx: postgres.TransactionSql, name: CopiedTable): Promise<void> {
  const [isLarge] =
    await tx`select 1 from ${tx(name)} where org_id = ${DEFAULT_ORG} offset ${WHOLE_MAX} limit 1`;
  if (name in TIMES && isLarge) return;
  await tx.unsafe(markAll(name), [DEFAULT_ORG]);
  if (name in TIMES)
    await tx`insert into clickhouse_moves (relation, moved_to) values (${name}, to_timestamp(0))`;
}

/** Rows are no longer marked, and the marks are gone: what follows is not in ClickHouse until everything is moved again. */
export async function endMarking(sql: postgres.Sql): Promise<void> {
  await sql`delete from clickhouse_state where org_id = ${DEFAULT_ORG}`;
  await untilWritersEnd(sql);
  await sql`delete from clickhouse_marks where org_id = ${DEFAULT_ORG}`;
  await sql`delete from clickhouse_moves where org_id = ${DEFAULT_ORG}`;
}

/** Transactions that write here, and with `of` those of them that write still. What other databases do does not matter. */
const WRITERS = `select distinct virtualtransaction as id from pg_locks
  where database = (select oid from pg_database where datname = current_database()) and mode = 'RowExclusiveLock'
    and ($1::text[] is null or virtualtransaction = any($1))`;

/** Waits for the transactions that write now: they may not have seen that rows are to be marked. @throws Error after 10 s */
async function untilWritersEnd(sql: postgres.Sql): Promise<void> {
  const writers = async (of: string[] | null) =>
    (await sql.unsafe<{ id: string }[]>(WRITERS, [of])).map(({ id }) => id);
  let left = await writers(null);
  for (let waitedMs = 0; left.length > 0; waitedMs += LOOK_EVERY_MS) {
    if (waitedMs >= WRITERS_MAX_MS) throw new Error("a transaction in Postgres does not end");
    await Bun.sleep(LOOK_EVERY_MS);
    left = await writers(left);
  }
}
