import type postgres from "postgres";
import type { Database } from "#drizzle/database.ts";
import type { budgets } from "#drizzle/schema/budgets.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

type Unsummed = Pick<typeof budgets.$inferSelect, "name" | "account" | "kind" | "scopeId">;

/** Whose spend is not booked while no budget is on them. */
const UNBOOKED = ["organisation", "route", "tag"] as const;

/**
 * Counts what was spent in the longest period before budgets were made: it is the start of their current period, and the history of
 * their forecast. Records are stored meanwhile, and each counts once. Until a budget's past is counted, only later calls count in it.
 */
export async function sumPastSpend({ sql }: Pick<Database, "sql">): Promise<void> {
  const waiting = sql<Unsummed[]>`select name from budgets
    where org_id = ${DEFAULT_ORG} and past_summed_at is null and kind = any(${[...UNBOOKED]}::text[]) limit 1`;
  if ((await waiting).length === 0) return;
  const one = await sql.reserve();
  try {
    // One process sums up; whoever waits for it finds the work done.
    await one`select pg_advisory_lock(hashtext('past spend'))`;
    const unsummed = await one<Unsummed[]>`
      select name, account, kind, scope_id as "scopeId" from budgets
      where org_id = ${DEFAULT_ORG} and past_summed_at is null and kind = any(${[...UNBOOKED]}::text[]) order by name`;
    for (const budget of unsummed) await sumUp(one, budget);
  } finally {
    await one`rollback`.catch(() => undefined);
    await one`select pg_advisory_unlock_all()`.catch(() => undefined);
    one.release();
  }
}

async function sumUp(one: postgres.ReservedSql, { name, account, kind, scopeId }: Unsummed): Promise<void> {
  const [same] = await one`select 1 from budgets
    where org_id = ${DEFAULT_ORG} and account = ${account} and past_summed_at is not null limit 1`;
  // Another budget on the same has counted it.
  const days = same ? [] : await pastOf(one, { account, kind, scopeId });
  await one`begin`;
  for (const { day, usd } of days) {
    await one`insert into key_spend as spent (org_id, key_id, day, usd) values (${DEFAULT_ORG}, ${account}, ${day}::date, ${usd}::numeric)
      on conflict (org_id, key_id, day) do update set usd = spent.usd + excluded.usd`;
  }
  await one`update budgets set past_summed_at = now() where org_id = ${DEFAULT_ORG} and name = ${name} and account = ${account}`;
  await one`commit`;
}

/**
 * What was spent by day until this moment; what comes later is booked by the triggers. For the moment alone, writers of records wait:
 * those before have committed, and are in the snapshot.
 */
async function pastOf(
  one: postgres.ReservedSql,
  { account, kind, scopeId }: Omit<Unsummed, "name">,
): Promise<{ day: string; usd: string }[]> {
  await one`select pg_advisory_lock(hashtext('budgets'))`;
  await one`delete from key_spend where org_id = ${DEFAULT_ORG} and key_id = ${account}`;
  await one`begin isolation level repeatable read read only`;
  await one`set local statement_timeout = '10min'`;
  await one`select now()`;
  await one`select pg_advisory_unlock(hashtext('budgets'))`;
  const since = one`(date_trunc('day', now() at time zone 'UTC') - interval '92 days') at time zone 'UTC'`;
  const days = await one<{ day: string; usd: string }[]>`
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
    ) booked where usd <> 0 group by 1 order by 1`;
  await one`commit`;
  return days;
}
