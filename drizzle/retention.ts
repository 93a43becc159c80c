import type postgres from "postgres";
import { codeOf } from "#shared/error-code.ts";
import { newId } from "#shared/ids.ts";
import { FORGET_AGENTS } from "./ages.ts";
import { connected } from "./database.ts";
import { BEFORE_SUMMING, FORGET_HOURS, ROLL_HOURS } from "./hour-sums.ts";
import { addMonth, type Month, monthOf } from "./partitions.ts";

/** How long writers of records may wait while a month is detached, and how often detaching is tried. */
const LOCK_MS = 100;
const TRIES = 40;
const PAUSE_MS = 250;

/** SQLSTATE of a lock that could not be acquired in time. */
const LOCK_NOT_AVAILABLE = "55P03";

type Plan = {
  /** First day (UTC) of the oldest month that stays. */
  cutoff: string;
  /** Who drops one month a day and says so in the audit log; null: everything at once, as another database did. */
  daily: { actor: string; confirmed: boolean } | null;
};

/** As the audit log has it. */
const DROPPED = "records.dropped";

/** The first day (UTC) of the oldest month that stays, by the database's clock, whatever a gateway's own clock says. */
const cutoffIn = async (sql: postgres.Sql, days: number): Promise<string> => {
  const [row] = await sql<{ cutoff: string }[]>`
    select to_char(now() at time zone 'UTC' - make_interval(days => ${days}), 'YYYY-MM-01') as cutoff`;
  return row?.cutoff ?? "";
};

/**
 * Drops single records that are older than `days` by the database's clock: the oldest month, and no other one within the
 * next 24 hours, so that a wrong clock or setting is noticed while most is still there; all of them once an administrator
 * has `confirmed` it. Otherwise like `dropOldMonths`.
 */
export const retainDays = (
  url: string,
  { days, ...daily }: { days: number; actor: string; confirmed: boolean },
): Promise<string[]> =>
  connected(url, AS, async (client) => drop(client, { cutoff: await cutoffIn(client, days), daily }));

/** The months (`requests_2026_01`) of single records that are older than `days` by the database's clock. */
export const monthsDue = (url: string, days: number): Promise<string[]> =>
  connected(url, AS, async (client) => {
    const cutoff = await cutoffIn(client, days);
    return (await monthsThere(client)).filter(({ to }) => to <= cutoff).map(({ table }) => table);
  });

/**
 * Drops the single records of every month (UTC) that ends before `before`, once all of its hours are rolled up and none
 * is marked for a rebuild; rollups are kept. Returns the dropped partitions; none if it is too early, or if the lock is
 * not available: the next call retries. Safe to run in several processes at once.
 *
 * A month is detached, which needs a short lock of the whole table: waiting for it ends after 100 ms, so that writers
 * never queue up behind it for longer. Dropping the detached partition afterwards blocks no one.
 */
export const dropOldMonths = (url: string, before: Date, triesMax = TRIES): Promise<string[]> =>
  connected(url, AS, (client) => drop(client, { cutoff: monthOf(before).from, daily: null }, triesMax));

const AS = { name: "retention", statementTimeoutMs: 60_000 };

async function drop(client: postgres.Sql, plan: Plan, triesMax = TRIES): Promise<string[]> {
  await houseStrays(client, plan.cutoff);
  const { cutoff } = await nextMonths(client, plan);
  while (await keepHours(client, cutoff));
  for (let tries = 0; tries < triesMax; tries++) {
    const detached = await detachMonths(client, plan).catch((error) => {
      if (codeOf(error) === LOCK_NOT_AVAILABLE) return null;
      throw error;
    });
    if (detached) return await dropDetached(client, plan.cutoff);
    await Bun.sleep(PAUSE_MS);
  }
  return [];
}

/** Records of old months that never had a partition get one, so that they are dropped in the same way. */
async function houseStrays(client: postgres.Sql, cutoff: string): Promise<void> {
  const strays = await client<{ month: string }[]>`
    select distinct to_char(started_at at time zone 'UTC', 'YYYY-MM-01') as month from requests_default
    where started_at < ${cutoff}::text::timestamptz`;
  for (const { month } of strays) {
    await client.begin(async (sql) => {
      await sql`set local lock_timeout = '2s'`;
      await addMonth(sql, monthOf(new Date(`${month}T00:00:00Z`)));
    });
  }
}

/** Inserts missing hour cells of one day in the months that are dropped; true if another day may follow. */
const keepHours = (client: postgres.Sql, cutoff: string): Promise<boolean> =>
  client.begin(async (sql) => {
    const [state] = await sql<{ org: string; day: string | null; next: string | null }[]>`
      select s.org_id as org, d.day::text, (d.day + interval '1 day')::text as next
      from (select * from rollup_state where rolled_to >= ${cutoff}::text::timestamptz for update) s
      cross join lateral (
        select date_trunc('day', min(r.started_at), 'UTC') as day from requests r
        where r.org_id = s.org_id and r.started_at >= coalesce(greatest(s.hours_to, s.raw_from), '-infinity')
          and r.started_at < least(${cutoff}::text::timestamptz, coalesce(s.hours_from, '-infinity'))) d
      where s.hours_to is null or s.hours_to < ${cutoff}::text::timestamptz limit 1`;
    if (!state) return false;
    const { org, day, next } = state;
    if (day && next) {
      await sql.unsafe(BEFORE_SUMMING);
      for (const make of [FORGET_HOURS, ROLL_HOURS]) await sql.unsafe(make, [org, day, next]);
    }
    await sql`update rollup_state set hours_to = ${next ?? cutoff}::text::timestamptz where org_id = ${org}`;
    return true;
  });

async function detachMonths(client: postgres.Sql, plan: Plan): Promise<boolean> {
  return await client.begin(async (sql) => {
    await sql.unsafe(`set local lock_timeout = '${LOCK_MS}ms'`);
    // Locking the rows keeps rollups unchanged in the meantime, and lets one process at a time see which months are there.
    await sql`select 1 from rollup_state for update`;
    const { months, cutoff } = await nextMonths(sql, plan);
    const states = await sql<{ rolled: boolean; done: boolean }[]>`
      select rolled_to >= ${cutoff}::text::timestamptz and coalesce(hours_to >= ${cutoff}::text::timestamptz, false) as rolled,
        coalesce(raw_from >= ${cutoff}::text::timestamptz, false) as done
      from rollup_state`;
    if (states.length === 0 || !states.every(({ rolled }) => rolled)) return true;
    if (months.length === 0 && (plan.daily || states.every(({ done }) => done))) return true;
    await sql`lock table requests in access exclusive mode`;
    const [hindered] = await sql`
      select 1 from rollup_marks where hour < ${cutoff}::text::timestamptz
      union all select 1 from requests_default where started_at < ${cutoff}::text::timestamptz limit 1`;
    if (hindered) return true;
    for (const { table } of months) await sql.unsafe(`alter table requests detach partition ${table}`);
    await sql`update rollup_state set raw_from = greatest(raw_from, ${cutoff}::text::timestamptz)`;
    if (plan.daily) await note(sql, months, plan.daily.actor);
    return true;
  });
}

async function note(sql: postgres.TransactionSql, months: readonly Month[], actor: string): Promise<void> {
  for (const { from } of months) {
    await sql`insert into audit_entries (id, at, actor, action, subject)
      values (${newId()}, now(), ${actor}, ${DROPPED}, ${from.slice(0, 7)})`;
  }
}

/** The months that may go now, and the first day that stays. */
async function nextMonths(sql: postgres.Sql | postgres.TransactionSql, { cutoff, daily }: Plan) {
  const due = (await monthsThere(sql)).filter(({ to }) => to <= cutoff);
  const [oldest] = due;
  if (!daily || daily.confirmed || oldest === undefined) return { months: due, cutoff };
  return { months: (await droppedToday(sql)) ? [] : [oldest], cutoff: oldest.to };
}

/** Whether a month was dropped within the last 24 hours. */
const droppedToday = async (sql: postgres.Sql | postgres.TransactionSql): Promise<boolean> =>
  (
    await sql`select 1 from audit_entries
      where action = ${DROPPED} and at > now() - interval '24 hours' limit 1`
  ).length > 0;

/** Months that are detached, by this call or by one that was killed before it could drop them. */
async function dropDetached(client: postgres.Sql, cutoff: string): Promise<string[]> {
  const tables = await client<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relkind = 'r' and not c.relispartition and c.relnamespace = current_schema()::regnamespace
      and c.relname ~ '^requests_[0-9]{4}_[0-9]{2}$'
    order by 1`;
  const dropped: string[] = [];
  for (const { name } of tables) {
    if (`${name.slice(-7).replace("_", "-")}-01` >= cutoff) continue;
    await client.unsafe(`drop table if exists ${name}`);
    dropped.push(name);
  }
  if (dropped.length > 0) await client.unsafe(FORGET_AGENTS);
  return dropped;
}

/** Oldest first. */
async function monthsThere(sql: postgres.Sql | postgres.TransactionSql): Promise<Month[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass
    order by 1`;
  return rows.flatMap(({ name }) => {
    const [, year, month] = /^requests_(\d{4})_(\d\d)$/.exec(name) ?? [];
    return year === undefined ? [] : [monthOf(new Date(`${year}-${month}-01T00:00:00Z`))];
  });
}
