import { DEFAULT_ORG } from "#shared/ids.ts";
import { isSummed } from "../../reports/buckets/columns.ts";
import { DAY_MS } from "../../reports/rollup/cover.ts";
import { type DaySpan, daysApart, differences, tablesApart } from "./compare.ts";
import { deleteCopies } from "./delete.ts";
import { identityOf, prepare } from "./identity.ts";
import { insertRows } from "./insert.ts";
import { type CopyDeps, copyMarked, type Line, nextVersion, parking, voidBefore } from "./marks.ts";
import { DATED_TABLES, type DatedTable, instantIn, markAll, rowsBetween, TIMES } from "./rows.ts";
import { COPIED_TABLES } from "./schema.ts";
import { hoursIn, voidHours } from "./sum-up.ts";

/** Rows of one insertion. */
const ROWS_AT_ONCE = 5000;
/** How often a day is compared: rows marked meanwhile may not be copied yet. */
const TRIES = 10;
const PAUSE_MS = 500;

/** Rows that are younger may have come since. */
const SETTLED_MS = 60_000;

export type MoveDeps = CopyDeps;

type MoveOptions = {
  /** Begin with the first day, not where an earlier move ended. */
  again: boolean;
  /** Called after each insertion, and after each day. */
  onProgress(progress: MoveProgress): void;
};

/** How far a move is: `rows` of this day are copied, and `done` of `of` days of all tables are copied and compared. */
type MoveProgress = { table: DatedTable; day: string; rows: number; done: number; of: number };

/**
 * Copies Postgres's rows to ClickHouse, day by day (UTC), the oldest first, and compares each day. Continues where it
 * stopped; gateways may run meanwhile. Returns the number of copied rows. @throws Error if a day cannot be made to agree
 */
export async function moveRecords(deps: MoveDeps, options: MoveOptions): Promise<number> {
  const { sql, clock } = deps;
  await prepare(deps);
  const version = await nextVersion(sql);
  for (const name of COPIED_TABLES) if (!(name in TIMES)) await sql.unsafe(markAll(name), [DEFAULT_ORG]);
  let moved = 0;
  const todayMs = Math.floor(clock.now().getTime() / DAY_MS) * DAY_MS;
  const plan: Day[] = [];
  for (const table of DATED_TABLES) {
    for (const dayMs of await daysOf(deps, table, options.again)) plan.push({ table, dayMs });
  }
  const copy = async ({ table, dayMs }: Day, [place, of]: [number, number]) => {
    const span = { from: new Date(dayMs), to: new Date(dayMs + DAY_MS) };
    const show = (rows: number, done: number) =>
      options.onProgress({ table, day: dayOf(span), rows, done, of });
    const { rows, version } = await moveDay(deps, { table, span, onRows: (copied) => show(copied, place) });
    const settledMs = Math.min(span.to.getTime(), clock.now().getTime() - SETTLED_MS);
    await untilAlike(deps, table, { span: { ...span, to: new Date(settledMs) }, version });
    // Rows of today still come.
    await noteMoved(deps, table, new Date(Math.min(dayMs + DAY_MS, todayMs)));
    moved += rows;
    show(rows, place + 1);
  };
  for (const [place, day] of plan.entries()) await copy(day, [place, plan.length]);
  while (await copyMarked(deps));
  for (const name of await tablesApart(deps))
    await deleteCopies(deps, name, { where: `version < ${version}` });
  // Days that were moved before may have changed in ClickHouse since.
  const apart = await compareAll(deps);
  for (const [place, day] of apart.entries()) await copy(day, [place, apart.length]);
  if (apart.length > 0 && (await compareAll(deps)).length > 0) throw new Error(AGAIN);
  return moved;
}

const AGAIN = "ClickHouse lost rows while they were moved: run the command again";

/** Compares all days of all tables and returns those that differ; without any, reports read ClickHouse from then on. */
export async function compareAll(deps: CopyDeps): Promise<Day[]> {
  const { sql, client, clock } = deps;
  const id = await identityOf(client);
  const days: Day[] = [];
  let tries = 1;
  const again = async () => {
    const [mark] = await sql`select 1 from clickhouse_marks where org_id = ${DEFAULT_ORG} limit 1`;
    await copyMarked(deps);
    await Bun.sleep(PAUSE_MS);
    // Rows that were marked when they were compared may be copied by now.
    return tries++ < (mark ? TRIES : 2);
  };
  const end = new Date(clock.now().getTime() - SETTLED_MS);
  for (const table of DATED_TABLES) {
    for (const { from } of await daysApart(deps, { table, end }, again))
      days.push({ table, dayMs: from.getTime() });
  }
  const isAlike = days.length === 0 && (await tablesApart(deps)).length === 0;
  await sql`
    update clickhouse_state set compared_at = case when ${isAlike} then now() end
    where org_id = ${DEFAULT_ORG} and database_id::text = ${id}`;
  return days;
}

type Day = { table: DatedTable; dayMs: number };

const dayOf = ({ from }: DaySpan): string => from.toISOString().slice(0, 10);

/** The days that have rows, from the one to continue with. */
async function daysOf({ sql }: MoveDeps, table: DatedTable, again: boolean): Promise<number[]> {
  const [moved] = await sql<{ to: Date }[]>`
    select moved_to as to from clickhouse_moves where org_id = ${DEFAULT_ORG} and relation = ${table}`;
  const from = (again ? null : moved?.to.toISOString()) ?? "-infinity";
  const days = await sql<{ day: string }[]>`
    select distinct (${sql(TIMES[table])} at time zone 'UTC')::date::text as day from ${sql(table)}
    where org_id = ${DEFAULT_ORG} and ${sql(TIMES[table])} >= ${from}::text::timestamptz order by 1`;
  return days.map(({ day }) => Date.parse(day));
}

type MovedDay = { table: DatedTable; span: DaySpan; onRows(copied: number): void };

/** Copies the rows of a day, as one look at the database sees them. Returns how many. */
async function moveDay(
  deps: MoveDeps,
  { table: name, span: { from, to }, onRows }: MovedDay,
): Promise<{ rows: number; version: string }> {
  const { sql, client } = deps;
  const park = parking(deps, name);
  const version = await nextVersion(sql);
  const values = [version, DEFAULT_ORG, from.toISOString(), to.toISOString()];
  let copied = 0;
  for await (const rows of sql.unsafe<Line[]>(rowsBetween(name), values).cursor(ROWS_AT_ONCE)) {
    const token = `${name} ${version} ${copied}`;
    await alone(deps, async (current) => {
      await voidBefore(client, { name, rows, version: current });
      await insertRows(client, { name, lines: rows.map(({ line }) => line), token }, park);
    });
    copied += rows.length;
    onRows(copied);
  }
  return { rows: copied, version };
}

/**
 * Returns once both databases have the same; what changed since is copied meanwhile, and rows of ClickHouse that were not
 * among those copied with this version are deleted. @throws Error
 */
async function untilAlike(
  deps: MoveDeps,
  table: DatedTable,
  { span, version }: { span: DaySpan; version: string },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await differences(deps, table, span);
    if (found.length === 0) return;
    const { from, to } = span;
    const at = TIMES[table];
    const stale = `${at} >= ${instantIn(from)} and ${at} < ${instantIn(to)} and version < ${version}`;
    if (tries === 1) {
      await alone(deps, async (current) => {
        if (isSummed(table))
          await voidHours(deps.client, { source: table, hours: hoursIn(from, to), version: current });
        await deleteCopies(deps, table, { where: stale });
      });
    }
    if (tries === TRIES) throw new Error(differing(table, span, found));
    while (await copyMarked(deps));
    await Bun.sleep(PAUSE_MS);
  }
}

/** Runs while no one else writes to ClickHouse. The number is higher than all before. */
const alone = <T>({ sql }: MoveDeps, work: (version: string) => Promise<T>) =>
  sql.begin(async (tx) => await work(await nextVersion(tx)));

const differing = (table: DatedTable, span: DaySpan, found: readonly string[]): string =>
  [
    `${table} of ${dayOf(span)} differ:`,
    ...found.slice(0, 10).map((line) => `  ${line}`),
    "Rows that ClickHouse refuses for their data are in dead_records, if they are records of calls. Run the command again to go on with this day.",
  ].join("\n");

const noteMoved = ({ sql }: MoveDeps, table: DatedTable, to: Date) => sql`
  insert into clickhouse_moves (org_id, relation, moved_to)
  values (${DEFAULT_ORG}, ${table}, ${to.toISOString()}::text::timestamptz)
  on conflict (org_id, relation) do update set moved_to = greatest(clickhouse_moves.moved_to, excluded.moved_to)`;
