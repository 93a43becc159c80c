import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { AGES, type Age } from "./ages.ts";

/** Rows of one statement: few enough not to delay other statements. */
const ROWS_MAX = 5000;

/** Deletes the rows that are older than their table allows (ages.ts). `onDeleted`: some of `table` are gone. */
export async function expireAll(
  sql: postgres.Sql,
  onDeleted: (table: string, rows: number) => void,
): Promise<void> {
  for (const [table, age] of Object.entries(AGES)) {
    const rows = "kept" in age ? 0 : await expire(sql, table, age);
    if (rows > 0) onDeleted(table, rows);
  }
}

/** Deletes what is too old by the database's clock; returns how many. Safe in parallel: locked rows are skipped. */
async function expire(sql: postgres.Sql, table: string, { days, since, only }: Age): Promise<number> {
  const end =
    days === "retention"
      ? "(select min(raw_from) from rollup_state)"
      : `now() - make_interval(days => ${days})`;
  const text = `delete from ${table} where ctid = any(array(
    select ctid from ${table} it where it.org_id = $1::text and ${since} < ${end} and ${only?.sql ?? "true"}
    limit ${ROWS_MAX} for update of it skip locked))`;
  let total = 0;
  for (;;) {
    const { count } = await sql.unsafe(text, [DEFAULT_ORG]);
    total += count;
    if (count < ROWS_MAX) return total;
  }
}
