import type { ClickHouseClient } from "@clickhouse/client";
import { connect } from "#drizzle/database.ts";
import { poll } from "#drizzle/leases/poll.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import { checkPublishedSums } from "./check-sums.ts";
import { askClickHouse, openClickHouse } from "./client.ts";
import { onCluster, storedIn } from "./cluster.ts";
import type { Copies } from "./copies.ts";
import { isKnown, isMissing, prepare } from "./identity.ts";
import { copyMarked, nextVersion } from "./marks.ts";
import { compareAll } from "./move.ts";
import { DATED_TABLES, instantIn, TIMES } from "./rows.ts";
import { sumUp, sweepSums } from "./sum-up.ts";

/** Between rounds: marks gather meanwhile, so that ClickHouse gets few large insertions. */
const EVERY_MS = 500;
const COUNT_EVERY_MS = 5000;
/** Whether the database is the one that rows are copied to. */
const LOOK_EVERY_MS = 5000;
const COMPARE_EVERY_MS = 5 * 60_000;
const RETENTION_EVERY_MS = 60 * 60_000;
const UNMOVED =
  "ClickHouse does not have all rows of Postgres, so reports read Postgres: run tallygate move-records";
const CLIENT = { name: "records", timeoutMs: 30_000, connectionsMax: 2 };

const POOL = {
  name: "clickhouse",
  max: 1,
  statementTimeoutMs: 30_000,
  // ClickHouse may take half a minute for each of the tables; a process that stopped must not keep others from copying.
  idleTransactionTimeoutMs: 60_000,
};

export type KeepCopiesDeps = Ambient & {
  copies: Pick<Copies, "noteWaiting">;
};

type Place = { databaseUrl: string; clickhouse: { url: string; cluster: string | null } };

/**
 * Copies to ClickHouse what came, changed or was deleted in Postgres, until stopped. Any number of processes may do so: one copies at a time. Failures are logged once, and retried.
 */
export function keepCopies(place: Place, deps: KeepCopiesDeps): { stop(): Promise<void> } {
  const { clock, log } = deps;
  const sql = connect(place.databaseUrl, POOL);
  const client = openClickHouse(place.clickhouse.url, CLIENT);
  const stores = { sql, client, clock, log, place: place.clickhouse };
  const due = timers(clock);
  let prepared = false;

  async function begin(): Promise<void> {
    const unmoved = await prepare(stores);
    if (unmoved.length > 0) log.warn({ tables: unmoved.join(" ") }, UNMOVED);
    prepared = true;
  }

  /** Reports read ClickHouse once it has what Postgres has, which is looked at again once a day. */
  async function compare(): Promise<void> {
    const [state] = await sql<{ moved: boolean; due: boolean; whole: boolean }[]>`
      select compared_at is not null as whole, coalesce(compared_at < now() - interval '1 day', true) as due,
        (select count(*) from clickhouse_moves where org_id = ${DEFAULT_ORG}) = ${DATED_TABLES.length} as moved
      from clickhouse_state where org_id = ${DEFAULT_ORG}`;
    if (!state?.moved || !state.due) return;
    const [first] = await compareAll(stores);
    if (first)
      log.warn({ table: first.table, day: new Date(first.dayMs).toISOString().slice(0, 10) }, UNMOVED);
    else if (!state.whole) log.info({}, "reports read ClickHouse");
  }

  async function expire(): Promise<void> {
    await sweepSums(client, clock.now());
    const [state] = await sql<{ dropped: Date | null }[]>`
      select raw_from as dropped from rollup_state where org_id = ${DEFAULT_ORG}`;
    if (state?.dropped) await expireCopies(client, { ...place.clickhouse, dropped: state.dropped });
    await checkPublishedSums(stores);
  }

  /** One round; true: more is marked than it takes. Records that keep coming must not keep it from counting and expiring. */
  async function round(stopping: () => boolean): Promise<boolean> {
    if (due("count", COUNT_EVERY_MS)) deps.copies.noteWaiting(await rowsWaiting(sql));
    prepared &&= !due("look", LOOK_EVERY_MS) || (await isKnown(sql, client));
    if (!prepared) await begin();
    const isMore = await copyMarked(stores).catch((error) => {
      prepared &&= !isMissing(error);
      throw error;
    });
    if (stopping()) return isMore;
    const isSumming = !isMore && (await sumUp(stores, { now: clock.now(), next: nextVersion }));
    if (!isMore && due("compare", COMPARE_EVERY_MS)) await compare();
    if (due("retention", RETENTION_EVERY_MS)) await expire();
    return isMore || isSumming;
  }

  const poller = poll({
    log,
    pollMs: EVERY_MS,
    round,
    failed: (error) => log.warn(errorFields(error), "records wait in Postgres for ClickHouse"),
    resumed: () => log.info({}, "ClickHouse gets records again"),
  });
  return {
    async stop() {
      await Promise.race([poller.stop(), Bun.sleep(5_000)]);
      await Promise.all([client.close(), sql.end({ timeout: 1 })]);
    },
  };
}

/** Tables whose rows age, with their time; those of a month (UTC) are one partition. */
const AGEING = Object.entries({ ...TIMES, cells: "at" });

/** Deletes what Postgres has dropped: everything before the first month of which it has single records. */
export async function expireCopies(
  client: ClickHouseClient,
  { dropped, cluster }: { dropped: Date; cluster: string | null },
): Promise<void> {
  for (const [name, time] of AGEING) {
    const before = `< ${instantIn(dropped)}`;
    const query = `select distinct toYYYYMM(${time}) as month from ${name} where ${time} ${before} limit 1000`;
    const months = await askClickHouse<{ month: number }>(client, query);
    const table = `${storedIn(name, cluster)}${onCluster(cluster)}`;
    const sums = `delete from summed${onCluster(cluster)} where match(level, '^tools? (hour|day)$') and at ${before}`;
    for (const { month } of months)
      await client.command({ query: `alter table ${table} drop partition ${month}` });
    // Sums outlive calls of models alone.
    if (name === "tool_calls" && months.length > 0) await client.command({ query: sums });
  }
}

async function rowsWaiting(sql: ReturnType<typeof connect>): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select coalesce(sum(rows), 0)::float8 as rows from clickhouse_marks where org_id = ${DEFAULT_ORG}`;
  return row?.rows ?? 0;
}

/** Whether a task is due: at first, and then once in its time. */
function timers(clock: Clock): (task: string, everyMs: number) => boolean {
  const doneAtMs = new Map<string, number>();
  return (task, everyMs) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (doneAtMs.get(task) ?? Number.NEGATIVE_INFINITY) < everyMs) return false;
    doneAtMs.set(task, nowMs);
    return true;
  };
}
