import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** A table whose rows are deleted by age, and its time column. */
export type Ageing = { table: string; column: string };

/** Rows of one statement: few enough not to delay other statements. */
const ROWS_MAX = 5000;

/**
 * Deletes what is older than `days` by the database's clock, a few rows at a time; returns how many. For tables that are not partitioned by
 * month. Several processes may do so at once: each skips rows that another has locked.
 */
export async function expire(sql: postgres.Sql, { table, column }: Ageing, days: number): Promise<number> {
  let total = 0;
  for (;;) {
    const { count } = await sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)}
        where org_id = ${DEFAULT_ORG} and ${sql(column)} < now() - make_interval(days => ${days})
        limit ${ROWS_MAX} for update skip locked))`;
    total += count;
    if (count < ROWS_MAX) return total;
  }
}
