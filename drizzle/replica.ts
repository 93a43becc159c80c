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
 * Keeps the tables of a replica that is fed by logical replication, which brings rows but neither tables nor partitions.
 * A standby (streaming replication) has both by itself and is left alone. Now, and every six hours until told to stop; a
 * failure is logged and tried again.
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

/** Since when the main server has single records: what it dropped before leaves the replica, too. */
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
 * How a replica tells how far it has come, whichever way it follows; null where it follows in neither way. And whether it
 * has all rows of every table: a logical one copies each at first, and has none of those that were made since unless told to.
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

/** `partial`: of some tables it has not all rows yet, and what it tells of them would be wrong. */
type Progress = "reached" | "behind" | "partial";

/**
 * Waits until `replica` shows what `main` had committed when it was asked, at most `patienceMs`: then it is behind. It
 * counts as reached where `main` is away, because nobody can tell then.
 */
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
    if (lsn === undefined || row?.reached === true) return "reached";
    await Bun.sleep(POLL_MS);
  } while (clock.monotonicMs() < until);
  return "behind";
}
