import type { ClickHouseClient } from "@clickhouse/client";
import { connect } from "#drizzle/database.ts";
import { poll } from "#drizzle/leases/poll.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Directory } from "../../directory.ts";
import { beginMarking } from "./begin.ts";
import { openClickHouse } from "./client.ts";
import { onCluster, storedIn } from "./cluster.ts";
import type { Copies } from "./copies.ts";
import { copyMarked } from "./marks.ts";
import { instantIn, TIMES } from "./rows.ts";
import { createTables } from "./schema.ts";

/** Between rounds: marks gather meanwhile, so that ClickHouse gets few large insertions. */
const EVERY_MS = 500;
const COUNT_EVERY_MS = 5000;
const RETENTION_EVERY_MS = 60 * 60_000;
const CLIENT = { name: "records", timeoutMs: 30_000, connectionsMax: 2 };

const POOL = {
  name: "clickhouse",
  max: 1,
  statementTimeoutMs: 30_000,
  // ClickHouse may take half a minute for each of the tables; a process that stopped must not keep others from copying.
  idleTransactionTimeoutMs: 60_000,
};

export type KeepCopiesDeps = {
  directory: { current(): { settings: Pick<Directory["settings"], "retention_days"> } };
  clock: Clock;
  log: Log;
  copies: Pick<Copies, "noteWaiting">;
};

type Place = { databaseUrl: string; clickhouse: { url: string; cluster: string | null } };

/**
 * Copies to ClickHouse what came or changed in Postgres, and deletes there what is older than `retention_days`, until
 * stopped. Any number of processes may do so: one copies at a time. Failures are logged once, and retried.
 */
export function keepCopies(place: Place, deps: KeepCopiesDeps): { stop(): Promise<void> } {
  const { clock, log } = deps;
  const sql = connect(place.databaseUrl, POOL);
  const client = openClickHouse(place.clickhouse.url, CLIENT);
  const due = timers(clock);
  let prepared = false;

  async function prepare(): Promise<void> {
    const unmoved = await beginMarking(sql);
    if (unmoved.length > 0) {
      log.warn({ tables: unmoved.join(" ") }, "older rows are not in ClickHouse: run tallygate move-records");
    }
    await makeTables(client, place.clickhouse.cluster);
    prepared = true;
  }

  /** One round; true: more is marked than it takes. Records that keep coming must not keep it from counting and expiring. */
  async function round(stopping: () => boolean): Promise<boolean> {
    if (due("count", COUNT_EVERY_MS)) deps.copies.noteWaiting(await rowsWaiting(sql));
    if (!prepared) await prepare();
    const isMore = await copyMarked({ sql, client, clock, log });
    if (stopping() || !due("retention", RETENTION_EVERY_MS)) return isMore;
    const ages = await agesIn(sql, deps.directory.current().settings.retention_days);
    await expireCopies(client, { ...ages, cluster: place.clickhouse.cluster });
    return isMore;
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

/** Makes tables and columns that are missing. */
export async function makeTables(client: ClickHouseClient, cluster: string | null): Promise<void> {
  for (const query of createTables(cluster)) await client.command({ query });
}

/** By what rows age; those of a month (UTC) go where Postgres has dropped that month. */
const AGEING = [
  { name: "requests", time: TIMES.requests, byMonth: true },
  { name: "session_requests", time: "started_at", byMonth: true },
  { name: "tool_calls", time: TIMES.tool_calls, byMonth: false },
  { name: "agent_points", time: TIMES.agent_points, byMonth: false },
];

/** Of records of calls, what Postgres has dropped up to; of everything else, how old it may be. */
type Ages = { dropped: Date | null; before: Date };

async function agesIn(sql: ReturnType<typeof connect>, days: number): Promise<Ages> {
  const [row] = await sql<Ages[]>`select now() - make_interval(days => ${days}) as before,
    (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}) as dropped`;
  return { dropped: row?.dropped ?? null, before: row?.before ?? new Date(0) };
}

/** Deletes what Postgres deletes, so by the clock of Postgres: records of calls in whole months, all else by its own age. */
export async function expireCopies(
  client: ClickHouseClient,
  { dropped, before, cluster }: Ages & { cluster: string | null },
): Promise<void> {
  for (const { name, time, byMonth } of AGEING) {
    const end = byMonth ? dropped : before;
    if (end === null) continue;
    const aged = `${time} < ${instantIn(end)}`;
    const [row] = await (
      await client.query({ query: `select 1 from ${name} where ${aged} limit 1`, format: "JSONEachRow" })
    ).json();
    if (row === undefined) continue;
    await client.command({
      query: `delete from ${storedIn(name, cluster)}${onCluster(cluster)} where ${aged}`,
    });
  }
}

/** Rows that are marked. */
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
