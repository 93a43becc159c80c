import type postgres from "postgres";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { connect, within } from "./database.ts";
import { migrate } from "./migrate.ts";
import { ensurePartitions } from "./partitions.ts";
import { dropOldMonths } from "./retention.ts";

const EVERY_MS = 6 * 60 * 60_000;
const RETRY_MS = 30_000;

/**
 * Maintains the tables of a replica that uses logical replication, which copies rows but neither tables nor partitions.
 * A standby (streaming replication) has both and needs nothing. Runs now and every six hours until stopped; failures are
 * logged and retried.
 */
export function keepReplica(url: string, clock: Clock, log: Log): { stop(): void } {
  let timer: Timer | undefined;
  let stopped = false;
  const turn = async () => {
    let nextMs = EVERY_MS;
    try {
      await furnish(url, clock.now());
    } catch (error) {
      nextMs = RETRY_MS;
      log.warn(errorFields(error), "the replica for reports cannot be migrated yet");
    }
    if (stopped) return;
    timer = setTimeout(() => void turn(), nextMs);
    timer.unref();
  };
  void turn();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function furnish(url: string, now: Date): Promise<void> {
  if (await isStandby(url)) return;
  await migrate(url);
  await ensurePartitions(url, now);
  const rawFrom = await rawFromOf(url);
  if (rawFrom) await dropOldMonths(url, rawFrom);
}

/** The start of the main server's single records: the replica drops older ones, too. */
const rawFromOf = (url: string): Promise<Date | null> =>
  once(url, async (sql) => {
    const [row] = await sql<{ from: Date | null }[]>`select min(raw_from) as from from rollup_state`;
    return row?.from ?? null;
  });

const isStandby = (url: string): Promise<boolean> =>
  once(url, async (sql) => {
    const [row] = await sql<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`;
    return row?.standby === true;
  });

async function once<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { name: "replica", max: 1, statementTimeoutMs: 5_000 });
  try {
    return await within(10_000, work(sql));
  } finally {
    void sql.end({ timeout: 1 }).catch(() => undefined);
  }
}

/**
 * Whether a replica has reached a position, for both kinds of replication; null for neither. And whether it has all rows
 * of every table: logical replication first copies each table, and lacks tables created later until it is refreshed.
 */
const REPLAYED = `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
  else (select min(latest_end_lsn) from pg_stat_subscription where relid is null) end >= $1::pg_lsn as reached,
  pg_is_in_recovery() or not exists (
    select from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()
  ) or not exists (
    select from pg_class c left join pg_subscription_rel r on r.srrelid = c.oid and r.srsubstate in ('s', 'r')
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and r.srrelid is null
  ) as whole`;
type Replayed = { reached: boolean | null; whole: boolean };

const POLL_MS = 10;

/** `partial`: some tables are not completely copied yet, so results would be wrong. `unknown`: `main` did not answer in time. */
type Progress = "reached" | "behind" | "partial" | "unknown";

/** Waits, for at most `patienceMs`, until `replica` shows everything that `main` has committed by now. */
export async function caughtUp(
  { main, replica, clock }: { main: postgres.Sql; replica: postgres.Sql; clock: Clock },
  patienceMs: number,
): Promise<Progress> {
  const asked = within(patienceMs, main<{ lsn: string }[]>`select pg_current_wal_flush_lsn()::text as lsn`);
  const lsn = await asked.then(
    ([row]) => row?.lsn,
    () => undefined,
  );
  const until = clock.monotonicMs() + patienceMs;
  do {
    const [row] = await within(patienceMs, replica.unsafe<Replayed[]>(REPLAYED, [lsn ?? "0/0"]));
    if (row?.whole === false) return "partial";
    if (lsn === undefined) return "unknown";
    if (row?.reached === true) return "reached";
    await Bun.sleep(POLL_MS);
  } while (clock.monotonicMs() < until);
  return "behind";
}
