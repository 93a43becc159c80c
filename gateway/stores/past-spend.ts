import type postgres from "postgres";
import type { Database } from "#drizzle/database.ts";
import type { budgets } from "#drizzle/schema/budgets.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

type Unsummed = Pick<typeof budgets.$inferSelect, "name" | "account" | "kind" | "scopeId" | "updatedAt">;

const WAIT_MS = 100;

/**
 * Counts what was spent in the longest period before budgets were made: it is the start of their current period, and the history of
 * their forecast. Records are stored meanwhile, and each counts once. Until a budget's past is counted, only later calls count in it.
 * One process counts at a time; another waits for it for `waitMs` at most.
 */
export async function sumPastSpend({ db, sql }: Database, waitMs = 0): Promise<void> {
  const until = performance.now() + waitMs;
  while (await nextUnsummed(sql)) {
    if (await sql.begin((tx) => sumNext(db, tx))) continue;
    if (performance.now() >= until) return;
    await Bun.sleep(WAIT_MS);
  }
}

/** What is spent on organisations, routes and tags is not booked while no budget is on them. */
async function nextUnsummed(sql: postgres.ISql): Promise<Unsummed | undefined> {
  const [budget] = await sql<Unsummed[]>`
    select name, account, kind, scope_id as "scopeId", updated_at::text as "updatedAt" from budgets
    where org_id = ${DEFAULT_ORG} and past_summed_at is null and kind in ('organisation', 'route', 'tag') order by name limit 1`;
  return budget;
}

/** What is missing is added in the statement that marks the budget, unless that was changed meanwhile. False: another process does it. */
async function sumNext(db: Database["db"], tx: postgres.TransactionSql): Promise<boolean> {
  await tx`set local idle_in_transaction_session_timeout = '10s'`;
  const [lock] = await tx`select pg_try_advisory_xact_lock(hashtext('past spend')) as mine`;
  if (!lock?.["mine"]) return false;
  const budget = await nextUnsummed(tx);
  if (!budget) return true;
  const { name, account, updatedAt } = budget;
  const [same] = await tx`select 1 from budgets
    where org_id = ${DEFAULT_ORG} and account = ${account} and past_summed_at is not null limit 1`;
  // Another budget on the same has counted it.
  if (!same) await awaitWriters(db);
  const days = same ? [] : await missingOf(tx, budget);
  await tx`with marked as (
      update budgets set past_summed_at = now() where org_id = ${DEFAULT_ORG} and name = ${name} and account = ${account}
        and past_summed_at is null and updated_at = ${updatedAt}::text::timestamptz returning org_id, account
    ) insert into key_spend as spent (org_id, key_id, day, usd)
    select org_id, account, day::date, usd::numeric
    from marked, unnest(${days.map(({ day }) => day)}::text[], ${days.map(({ usd }) => usd)}::text[]) as d(day, usd) order by day
    on conflict (org_id, key_id, day) do update set usd = spent.usd + excluded.usd`;
  return true;
}

/** What was spent by day beyond what is booked, both as of one moment; the triggers book what comes later. */
async function missingOf(
  tx: postgres.TransactionSql,
  { account, kind, scopeId }: Unsummed,
): Promise<{ day: string; usd: string }[]> {
  await tx`set local statement_timeout = '10min'`;
  const since = tx`(date_trunc('day', now() at time zone 'UTC') - interval '92 days') at time zone 'UTC'`;
  return await tx<{ day: string; usd: string }[]>`
    select (started_at at time zone 'UTC')::date::text as day, sum(usd)::text as usd from (
      select started_at, coalesce(cost_usd, bound_usd) as usd from requests r
      where org_id = ${DEFAULT_ORG} and started_at >= ${since} and channel <> 'subscription' and (${kind} = 'organisation'
        or ${kind} = 'route' and (route = ${scopeId} or route = '(several)' and channel = 'batch' and exists (
          select 1 from batches b where b.org_id = r.org_id and b.key_id = r.key_id and b.started_at = r.started_at
            and b.record_id = r.id and ${scopeId} = any(b.routes)))
        or ${kind} = 'tag' and tags @> array[${scopeId}]::text[])
      union all select started_at, cost_usd from tool_calls
      where org_id = ${DEFAULT_ORG} and started_at >= ${since}
        and (${kind} = 'organisation' or ${kind} = 'tag' and tags @> array[${scopeId}]::text[])
      union all select day::timestamp at time zone 'UTC', -usd from key_spend
      where org_id = ${DEFAULT_ORG} and key_id = ${account} and day >= (${since} at time zone 'UTC')::date
    ) spent where usd <> 0 group by 1 having sum(usd) <> 0`;
}

const WRITERS_TRIES = 3;

/**
 * Resolves once all records are stored whose trigger did not see the budget: it holds this lock until then. The lock is released where
 * it is taken, in one round trip, and is awaited for a moment at most, as new writers wait behind that.
 */
async function awaitWriters(db: Database["db"]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await db.execute("set local lock_timeout = '500ms'; select pg_advisory_xact_lock(hashtext('budgets'))");
      return;
    } catch (error) {
      if (tries >= WRITERS_TRIES) throw error;
      await Bun.sleep(tries * WAIT_MS);
    }
  }
}
