import { DEFAULT_ORG } from "#shared/ids.ts";
import { beginMarking } from "./begin.ts";
import { type DaySpan, differences } from "./compare.ts";
import { insertRows } from "./insert.ts";
import { makeTables } from "./keep.ts";
import { type CopyDeps, copyMarked, nextVersion, parking } from "./marks.ts";
import { DATED_TABLES, type DatedTable, markAll, rowsBetween, TIMES } from "./rows.ts";
import { COPIED_TABLES } from "./schema.ts";

const DAY_MS = 24 * 3_600_000;
/** Rows of one insertion. */
const ROWS_AT_ONCE = 5000;
/** How often a day is compared: rows marked meanwhile may not be copied yet. */
const TRIES = 10;
const PAUSE_MS = 500;

export type MoveDeps = CopyDeps & { cluster: string | null };

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
  const { sql, client, cluster, clock } = deps;
  await makeTables(client, cluster);
  await beginMarking(sql);
  for (const name of COPIED_TABLES) if (!(name in TIMES)) await sql.unsafe(markAll(name), [DEFAULT_ORG]);
  let moved = 0;
  const todayMs = Math.floor(clock.now().getTime() / DAY_MS) * DAY_MS;
  const plan: { table: DatedTable; dayMs: number }[] = [];
  for (const table of DATED_TABLES) {
    for (const dayMs of await daysOf(deps, table, options.again)) plan.push({ table, dayMs });
  }
  for (const [place, { table, dayMs }] of plan.entries()) {
    const span = { from: new Date(dayMs), to: new Date(dayMs + DAY_MS) };
    const show = (rows: number, done: number) =>
      options.onProgress({ table, day: dayOf(span), rows, done, of: plan.length });
    const rows = await moveDay(deps, { table, span, onRows: (copied) => show(copied, place) });
    await untilAlike(deps, table, span);
    // Rows of today still come.
    await noteMoved(deps, table, new Date(Math.min(dayMs + DAY_MS, todayMs)));
    moved += rows;
    show(rows, place + 1);
  }
  while (await copyMarked(deps));
  return moved;
}

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
): Promise<number> {
  const { sql, client } = deps;
  const park = parking(deps, name);
  const version = await nextVersion(sql);
  const values = [version, DEFAULT_ORG, from.toISOString(), to.toISOString()];
  let copied = 0;
  for await (const rows of sql.unsafe<{ line: string }[]>(rowsBetween(name), values).cursor(ROWS_AT_ONCE)) {
    const token = `${name} ${version} ${copied}`;
    await insertRows(client, { name, lines: rows.map(({ line }) => line), token }, park);
    copied += rows.length;
    onRows(copied);
  }
  return copied;
}

/** Returns once both databases have the same; what changed since is copied meanwhile. @throws Error */
async function untilAlike(deps: MoveDeps, table: DatedTable, span: DaySpan): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await differences(deps, table, span);
    if (found.length === 0) return;
    if (tries === TRIES) throw new Error(differing(table, span, found));
    while (await copyMarked(deps));
    await Bun.sleep(PAUSE_MS);
  }
}

const differing = (table: DatedTable, span: DaySpan, found: readonly string[]): string =>
  [
    `${table} of ${dayOf(span)} differ:`,
    ...found.slice(0, 10).map((line) => `  ${line}`),
    "Rows that ClickHouse refuses for their data are in dead_records, if they are records of calls. Run the command again to go on with this day.",
  ].join("\n");

const noteMoved = ({ sql }: MoveDeps, table: DatedTable, to: Date) => sql`
  insert into clickhouse_moves (org_id, relation, moved_to)
  values (${DEFAULT_ORG}, ${table}, ${to.toISOString()}::text::timestamptz)
  on conflict (org_id, relation) do update set moved_to = excluded.moved_to`;
