import type postgres from "postgres";
import { codeOf } from "#shared/error-code.ts";

export type Sql = postgres.TransactionSql;
/** As in the table; hours that are always kept end with `hoursToMs`, and begin with `hoursFromMs`. */
export type RollupState = {
  rolledToMs: number;
  rawFromMs: number | null;
  hoursToMs: number;
  hoursFromMs: number;
  sumsToMs: number | null;
};

/** The result of a turn: nothing to do, a part of the work done, or another process has the lock. */
export type Turn = "idle" | "more" | "busy";

/** Far before any record. */
export const NEVER_ROLLED = "0001-01-01T00:00:00.000Z";

/** The one writer holds the lock of the state's row, which ends with its transaction, even if it is killed. */
export async function asWriter(
  client: postgres.Sql,
  orgId: string,
  work: (sql: Sql, state: RollupState) => Promise<Turn>,
): Promise<Turn> {
  try {
    return await client.begin("isolation level repeatable read", async (sql) => {
      const state = await stateOf(sql, orgId, "for update skip locked");
      if (state) return await work(sql, state);
      // Without a row there is nothing to lock: the first turn makes it, and the next one works.
      const [made] = await sql`
        insert into rollup_state (org_id, rolled_to) values (${orgId}, ${NEVER_ROLLED}) on conflict do nothing returning 1`;
      return made ? "more" : "busy";
    });
  } catch (error) {
    // Another one's turn ended between this one's snapshot and its lock.
    if (codeOf(error) === "40001") return "busy";
    throw error;
  }
}

/** How far rollups reach; null if there are none, or if another process has the lock. */
export async function stateOf(
  sql: postgres.Sql | Sql,
  orgId: string,
  lock: "" | "for update skip locked" = "",
): Promise<RollupState | null> {
  const ms = (at: string) => `(extract(epoch from ${at}) * 1000)::bigint::text`;
  const [row] = await sql.unsafe<
    (Record<"rolled_to", string> & Record<"raw_from" | "to" | "from" | "sums_to", string | null>)[]
  >(
    `select ${ms("rolled_to")} as rolled_to, ${ms("raw_from")} as raw_from, ${ms("greatest(hours_to, raw_from)")} as to,
      ${ms("hours_from")} as from, ${ms("sums_to")} as sums_to
    from rollup_state where org_id = $1::text ${lock}`,
    [orgId],
  );
  return row
    ? {
        rolledToMs: Number(row.rolled_to),
        rawFromMs: row.raw_from === null ? null : Number(row.raw_from),
        hoursToMs: row.to === null ? Number.NEGATIVE_INFINITY : Number(row.to),
        hoursFromMs: row.from === null ? Number.NEGATIVE_INFINITY : Number(row.from),
        sumsToMs: row.sums_to === null ? null : Number(row.sums_to),
      }
    : null;
}
