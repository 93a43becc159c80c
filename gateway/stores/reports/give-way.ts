import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import type postgres from "postgres";

/** How much what makes reports gives way to what answers calls: 0 not at all, 19 wholly. */
export const NICENESS = 10;

const BACKENDS = "select pid from pg_stat_activity where application_name = 'tallygate reports'";

/**
 * Lets the database's processes that work for reports give way to calls. Only for a server that is asked through a Unix
 * socket, so that it shares this machine's cores, and only where this process may say so; otherwise nothing happens.
 */
export async function giveWay(sql: postgres.Sql): Promise<void> {
  for (const { pid } of await sql.unsafe<{ pid: number }[]>(BACKENDS)) {
    // In another container the number may be anybody's.
    if (isPostgres(pid)) setPriority(pid, NICENESS);
  }
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("postgres:");
  } catch {
    return false;
  }
}
