import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { cellsSql, daySql, hoursSql, LEVELS, type Summed } from "../../reports/buckets/columns.ts";
import { CLICKHOUSE } from "../../reports/engines.ts";
import { RECORDS } from "../../reports/relations.ts";
import { DAY_MS, HOUR_MS } from "../../reports/rollup/cover.ts";
import { askClickHouse } from "./client.ts";
import { instantIn } from "./rows.ts";

// Sums of hours and days of calls. A bucket is void from before a call of it is written until it is summed up again: then
// reports read its calls. Each summing up is a generation, and one insertion publishes it (decision: Sums in ClickHouse
// have generations).

/** Calls that are still running when their hour ends have this long to end before it is summed up. */
const SETTLE_MS = 5 * 60_000;
/** More changes may follow the last one. */
const DEBOUNCE_MS = 60_000;

type Level = (typeof LEVELS)[Summed]["hour" | "day" | "all"];
type Published = { level: Level; atMs: number; gen: string; ready: boolean };
export const SUMMED_SOURCES = Object.keys(LEVELS) as Summed[];

export const publishSums = (client: ClickHouseClient, orgId: string, buckets: readonly Published[]) =>
  client.insert({
    table: "summed",
    values: buckets.map(({ atMs, ...bucket }) => ({ org_id: orgId, at: atMs / 1000, ...bucket })),
    format: "JSONEachRow",
  });

type Void = { source: Summed; hours: Iterable<number>; version: string; orgId?: string };
/** Records of these hours (milliseconds) are about to change: until they are summed up again, reports read them. */
export async function voidHours(
  client: ClickHouseClient,
  { source, hours, version, orgId = DEFAULT_ORG }: Void,
): Promise<void> {
  const at = [...new Set(hours)];
  const days = new Set(at.map((ms) => Math.floor(ms / DAY_MS) * DAY_MS));
  const of = (level: Level, all: Iterable<number>) =>
    [...all].map((atMs) => ({ level, atMs, gen: version, ready: false }));
  if (at.length > 0)
    await publishSums(client, orgId, [...of(LEVELS[source].hour, at), ...of(LEVELS[source].day, days)]);
}

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/** The hour (milliseconds) of each instant of a span. */
export const hoursIn = (from: Date, to: Date): number[] => {
  const first = hourOf(from.getTime());
  return Array.from({ length: Math.ceil((to.getTime() - first) / HOUR_MS) }, (_, i) => first + i * HOUR_MS);
};

type Due = {
  now: Date;
  /** Records before it are dropped, and sums of them stay as they are. */
  droppedMs: number | null;
  /** A version higher than those before. */
  next(): Promise<string>;
};

/** Sums up void hours of the oldest day that has any, then that day if it is over. True: there may be more to do. */
async function sumUpDay(client: ClickHouseClient, source: Summed, due: Due): Promise<boolean> {
  const { hour, day } = LEVELS[source];
  const { now, droppedMs } = due;
  const settledMs = now.getTime() - SETTLE_MS;
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const ask = (query: string) => askClickHouse<{ second: number; gen: string }>(client, query);
  const open = `from summed final where org_id = '${DEFAULT_ORG}' and not ready and level in ('${hour}', '${day}') and at >= toDateTime(${seconds(droppedMs ?? 0)}, 'UTC')
    and toUnixTimestamp(at) + if(level = '${day}', 86400, 3600) <= ${seconds(settledMs)}`;
  const [first] = await ask(
    `select toUnixTimestamp(at) as second ${open} and gen < ${(now.getTime() - DEBOUNCE_MS) * 1000} order by at, level limit 1`,
  );
  if (!first) return false;
  const dayMs = Math.floor((first.second * 1000) / DAY_MS) * DAY_MS;
  const within = `at >= toDateTime(${seconds(dayMs)}, 'UTC') and at < toDateTime(${seconds(dayMs + DAY_MS)}, 'UTC')`;
  const hours = await ask(`select toUnixTimestamp(at) as second ${open} and level = '${hour}' and ${within}`);
  const run = (query: string) => client.command({ query: `${query} settings ${SUM_SETTINGS}` });
  const span = `r.started_at >= ${instantIn(new Date(dayMs))} and r.started_at < ${instantIn(new Date(dayMs + DAY_MS))}`;
  const records = (chosen: string) =>
    `(select * from ${RECORDS[source]} r where r.org_id = '${DEFAULT_ORG}' and ${span} and ${chosen})`;
  if (hours.length > 0) {
    const gen = await due.next();
    const chosen = `toUnixTimestamp(toStartOfHour(r.started_at, 'UTC')) in (${hours.map(({ second }) => second)})`;
    await run(hoursSql(source, records(chosen), gen));
    const made = hours.map(({ second }) => ({ level: hour, atMs: second * 1000, gen, ready: true }));
    await publishSums(client, DEFAULT_ORG, made);
  }
  const own = `org_id = '${DEFAULT_ORG}' and level = '${hour}' and ${within}`;
  const left = await ask(`select 1 from summed final where ${own} and not ready limit 1`);
  if (left.length > 0 || dayMs + DAY_MS > settledMs) return hours.length > 0;
  const gen = await due.next();
  const ready = `select at, gen from summed final where ${own} and ready`;
  await run(daySql(source, `${own} and (at, gen) in (${ready})`, gen));
  if (source === "requests") await run(cellsSql(records("true"), gen));
  await publishSums(client, DEFAULT_ORG, [{ level: day, atMs: dayMs, gen, ready: true }]);
  return true;
}

/** Without nulls for empty aggregates: those are sums of unknown amounts alone. */
export const SUM_SETTINGS = Object.entries({ ...CLICKHOUSE.settings, aggregate_functions_null_for_empty: 0 })
  .map(([name, value]) => `${name} = '${value}'`)
  .join(", ");

/** Deletes generations that no report reads any more: ten minutes after another one was published. */
export async function sweepSums(client: ClickHouseClient, now: Date): Promise<void> {
  for (const [table, level] of [
    ["sums", "level"],
    ["cells", `'${LEVELS.requests.day}'`],
  ]) {
    const old = `gen < ${(now.getTime() - 10 * 60_000) * 1000}
    and (org_id, ${level}, at, gen) not in (select org_id, level, at, gen from summed final where ready)`;
    if ((await askClickHouse(client, `select 1 from ${table} where ${old} limit 1`)).length > 0)
      await client.command({ query: `delete from ${table} where ${old}` });
  }
}

/** Sums up a bounded part of what is due while no one else writes; true: there is more. */
export async function sumUp(
  { sql, client }: { sql: postgres.Sql; client: ClickHouseClient },
  { now, next }: { now: Date; next(sql: postgres.ISql): Promise<string> },
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const [state] = await tx<{ dropped: Date | null }[]>`
      select (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}) as dropped
      from clickhouse_state where org_id = ${DEFAULT_ORG} for update skip locked`;
    if (!state) return false;
    const due = { now, droppedMs: state.dropped?.getTime() ?? null, next: () => next(tx) };
    for (const source of SUMMED_SOURCES) if (await sumUpDay(client, source, due)) return true;
    return false;
  });
}
