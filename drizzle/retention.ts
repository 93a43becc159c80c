import type postgres from "postgres";
import { connect } from "./database.ts";
import { addMonth, type Month, monthOf } from "./partitions.ts";

/** How long writers of records may wait while a month is detached, and how often detaching is tried. */
const LOCK_MS = 100;
const TRIES = 40;
const PAUSE_MS = 250;

/** SQLSTATE of a lock that could not be acquired in time. */
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Drops the single records of every month (UTC) that ends before `before`, once all of its hours are rolled up and none
 * is marked for a rebuild; rollups are kept. Returns the dropped partitions; none if it is too early, or if the lock is
 * not available: the next call retries. Safe to run in several processes at once.
 *
 * A month is detached, which needs a short lock of the whole table: waiting for it ends after 100 ms, so that writers
 * never queue up behind it for longer. Dropping the detached partition afterwards blocks no one.
 */
export async function dropOldMonths(url: string, before: Date, triesMax = TRIES): Promise<string[]> {
  const client = connect(url, { name: "retention", max: 1, statementTimeoutMs: 60_000 });
  try {
    const cutoff = monthOf(before).from;
    await houseStrays(client, cutoff);
    for (let tries = 0; tries < triesMax; tries++) {
      const detached = await detachMonths(client, cutoff).catch((error) => {
        if (error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE) return null;
        throw error;
      });
      if (detached) return await dropDetached(client, cutoff);
      await Bun.sleep(PAUSE_MS);
    }
    return [];
  } finally {
    await client.end({ timeout: 5 });
  }
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

async function detachMonths(client: postgres.Sql, cutoff: string): Promise<boolean> {
  return await client.begin(async (sql) => {
    await sql.unsafe(`set local lock_timeout = '${LOCK_MS}ms'`);
    // Locking the rows keeps rollups unchanged in the meantime.
    const states = await sql<{ rolled: boolean; done: boolean }[]>`
      select rolled_to >= ${cutoff}::text::timestamptz as rolled,
        coalesce(raw_from >= ${cutoff}::text::timestamptz, false) as done
      from rollup_state for update`;
    if (states.length === 0 || !states.every(({ rolled }) => rolled)) return true;
    const months = (await monthsThere(sql)).filter(({ to }) => to <= cutoff);
    if (months.length === 0 && states.every(({ done }) => done)) return true;
    await sql`lock table requests in access exclusive mode`;
    const [hindered] = await sql`
      select 1 from rollup_marks where hour < ${cutoff}::text::timestamptz
      union all select 1 from requests_default where started_at < ${cutoff}::text::timestamptz limit 1`;
    if (hindered) return true;
    for (const { table } of months) await sql.unsafe(`alter table requests detach partition ${table}`);
    await sql`update rollup_state set raw_from = greatest(raw_from, ${cutoff}::text::timestamptz)`;
    return true;
  });
}

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
    await client.unsafe(`drop table ${name}`);
    dropped.push(name);
  }
  return dropped;
}

async function monthsThere(sql: postgres.TransactionSql): Promise<Month[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass`;
  return rows.flatMap(({ name }) => {
    const [, year, month] = /^requests_(\d{4})_(\d\d)$/.exec(name) ?? [];
    return year === undefined ? [] : [monthOf(new Date(`${year}-${month}-01T00:00:00Z`))];
  });
}
