import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { sessionsOfTasks, uncoveredTasks } from "./session-links.ts";

/**
 * `costUsd`: exact USD, null when none of it is known: of calls on a subscription alone, too. `isLowerBound`: it is not
 * known, or a call without a known cost is among them.
 */
export type SessionCost = { requests: number; costUsd: string | null; isLowerBound: boolean };

/**
 * What sessions did, as `session`, `records`, `cost_usd`, `uncertain` and `billed` (all but the subscription lane):
 * their single records, and the sums of hours whose single records have been dropped.
 */
export const sessionCalls = sql`(
  select q.session, 1 as records, q.cost_usd, q.unpriced or q.partial or q.cost_usd is null as uncertain,
    q.channel <> 'subscription' as billed
  from requests q
  where q.org_id = ${DEFAULT_ORG} and q.started_at >= coalesce(
    (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}), '-infinity')
  union all
  select h.session, h.records, h.cost_usd, h.uncertain > 0, h.channel <> 'subscription'
  from rollup_hours h
  where h.org_id = ${DEFAULT_ORG} and h.hour < (select raw_from from rollup_state where org_id = ${DEFAULT_ORG})
)`;

const ORG = `'${DEFAULT_ORG}'`;

/**
 * What a task's sessions cost so far, as reports on merged pull requests count it: its own session and those linked to
 * it, without the subscription lane.
 */
export async function sessionCost(
  reader: Pick<PostgresJsDatabase, "execute">,
  session: string,
): Promise<SessionCost> {
  const [row] = await reader.execute<{ requests: number; cost_usd: string | null; uncertain: boolean }>(sql`
    with tasks as (select ${session}::text as session),
      named as materialized (${sql.raw(sessionsOfTasks("tasks", ORG))})
    select coalesce(sum(c.records), 0)::integer as requests,
      coalesce(bool_or(c.billed and c.uncertain), false)
        or exists (${sql.raw(uncoveredTasks("named", ORG))}) as uncertain,
      case when count(*) = 0 then '0' else (sum(c.cost_usd) filter (where c.billed))::text end as cost_usd
    from ${sessionCalls} c where c.session = any(array(select named.session from named))`);
  if (!row) return { requests: 0, costUsd: "0", isLowerBound: false };
  const { requests, cost_usd: costUsd, uncertain } = row;
  return { requests, costUsd, isLowerBound: uncertain || costUsd === null };
}
