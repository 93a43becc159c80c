import type postgres from "postgres";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { connected } from "./database.ts";

/** Advisory lock for creating partitions: an arbitrary number, the same in every version. */
const PARTITION_LOCK = 7_219_440_319;

/** A month of `requests`: `[from, to)` in UTC, as dates. */
export type Month = { table: string; from: string; to: string };

/** The months that need a partition at `now`: the one before (late records), this one, and two ahead. */
export const monthsAround = (now: Date): Month[] => [-1, 0, 1, 2].map((offset) => monthOf(now, offset));

/** The month of `at`, or the one `offset` months after it. */
export function monthOf(at: Date, offset = 0): Month {
  const first = (months: number) =>
    new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)).toISOString().slice(0, 10);
  const from = first(offset);
  return { table: `requests_${from.slice(0, 7).replace("-", "_")}`, from, to: first(offset + 1) };
}

/**
 * Creates the missing partitions of `requests` for `now`; returns their names. Moves records of those months out of the
 * default partition. Safe to run in several processes at once.
 *
 * A month is created as a separate table and then attached, which does not block reads and writes of other months. Only
 * the default partition is locked while its few rows are scanned; waiting for that lock ends after 2 s
 * (SQLSTATE 55P03) so that reports do not queue up behind it. The next call retries. A transaction that has already
 * written to `requests` may get SQLSTATE 23514 once when it next writes to that month; a retry succeeds.
 */
export const ensurePartitions = (url: string, now: Date): Promise<string[]> =>
  connected(url, LIMITS, async (client) => {
    const made: string[] = [];
    const [gone] = await client<{ to: string | null }[]>`
      select to_char(min(raw_from) at time zone 'UTC', 'YYYY-MM-DD') as to from rollup_state`;
    for (const month of monthsAround(now)) {
      // Its single records are already dropped: late records are added to its rollups (retention.ts).
      if (gone?.to && month.to <= gone.to) continue;
      if (await client.begin((transaction) => addMonth(transaction, month))) made.push(month.table);
    }
    return made;
  });
const LIMITS = { name: "partitions", statementTimeoutMs: 60_000, lockTimeoutMs: 2_000 };

/** Creates and attaches one month unless it exists. In a transaction. */
export async function addMonth(sql: postgres.TransactionSql, { table, from, to }: Month): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${PARTITION_LOCK})`;
  const [there] = await sql`select 1 from pg_inherits where inhrelid = to_regclass(${table})`;
  if (there) return false;
  const inMonth = `started_at >= '${from} 00:00:00+00' and started_at < '${to} 00:00:00+00'`;
  await sql.unsafe(`create table ${table} (like requests including all)`);
  // With this check in place, attaching need not read the new table.
  await sql.unsafe(`alter table ${table} add constraint in_month check (${inMonth})`);
  await sql.unsafe("lock table requests_default in access exclusive mode");
  await sql.unsafe(
    `with moved as (delete from requests_default where ${inMonth} returning *) insert into ${table} select * from moved`,
  );
  await sql.unsafe(
    `alter table requests attach partition ${table} for values from ('${from} 00:00:00+00') to ('${to} 00:00:00+00')`,
  );
  await sql.unsafe(`alter table ${table} drop constraint in_month`);
  return true;
}

/** Partitions are made two months ahead, so a few missed turns do no harm. */
const EVERY_MS = 6 * 60 * 60_000;

/** Creates missing months now and every six hours, until stopped. Failures are logged and retried. */
export function keepPartitions(url: string, clock: Clock, log: Log): { stop(): void } {
  const turn = () =>
    ensurePartitions(url, clock.now()).then(
      (made) => {
        if (made.length > 0) log.info({ partitions: made.join(" ") }, "partitions made");
      },
      (error) => log.warn(errorFields(error), "partitions cannot be created yet"),
    );
  void turn();
  const timer = setInterval(() => void turn(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
