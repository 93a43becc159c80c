import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { isOfTask, sessionsOfTasks, uncoveredTasks } from "./session-links.ts";

/**
 * `costUsd`: exact USD; null when no cost is known, and for calls on a subscription alone. `isLowerBound`: the cost is
 * unknown, or leaves out a call without a known cost.
 */
export type SessionCost = { requests: number; costUsd: string | null; isLowerBound: boolean };

/**
 * Rows `session`, `owner`, `key_id`, `records`, `cost_usd`, `uncertain` and `billed` (all but the subscription lane) for sessions: from
 * their single records, and from the sums of hours whose single records have been dropped.
 */
export const sessionCalls = sql`(
  select q.session, q.owner, q.key_id, 1 as records, q.cost_usd, q.unpriced or q.partial or q.cost_usd is null as uncertain,
    q.channel <> 'subscription' as billed
  from requests q
  where q.org_id = ${DEFAULT_ORG} and q.started_at >= coalesce(
    (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}), '-infinity')
  union all
  select h.session, h.owner, h.key_id, h.records, h.cost_usd, h.uncertain > 0, h.channel <> 'subscription'
  from rollup_hours h
  where h.org_id = ${DEFAULT_ORG} and h.hour < (select raw_from from rollup_state where org_id = ${DEFAULT_ORG})
)`;

const ORG = `'${DEFAULT_ORG}'`;

/**
 * The cost of tasks' sessions so far, by task, as reports on merged pull requests count it: each task's own session and
 * linked sessions, without the subscription lane.
 */
export async function sessionCosts(
  reader: Pick<PostgresJsDatabase, "execute">,
  sessions: readonly string[],
): Promise<Map<string, SessionCost>> {
  if (sessions.length === 0) return new Map();
  const rows = await reader.execute<CostRow>(sql`
    with tasks as (select jsonb_array_elements_text(${JSON.stringify(sessions)}::jsonb) as session),
      named as materialized (${sql.raw(sessionsOfTasks("tasks", ORG))}),
      uncovered as (${sql.raw(uncoveredTasks("named", ORG))}),
      calls as materialized (
        select * from ${sessionCalls} c where c.session = any(array(select named.session from named)))
    select n.task, coalesce(sum(c.records), 0)::integer as requests,
      coalesce(bool_or(c.billed and c.uncertain), false)
        or n.task in (select uncovered.task from uncovered) as uncertain,
      case when count(c.session) = 0 then '0' else (sum(c.cost_usd) filter (where c.billed))::text end as cost_usd
    from named n left join calls c on c.session = n.session and ${sql.raw(isOfTask)}
    group by n.task`);
  return new Map(
    rows.map(({ task, requests, cost_usd: costUsd, uncertain }) => [
      task,
      { requests, costUsd, isLowerBound: uncertain || costUsd === null },
    ]),
  );
}

type CostRow = { task: string; requests: number; cost_usd: string | null; uncertain: boolean };

/** The same for one task. */
export const sessionCost = async (
  reader: Pick<PostgresJsDatabase, "execute">,
  session: string,
): Promise<SessionCost> =>
  (await sessionCosts(reader, [session])).get(session) ?? { requests: 0, costUsd: "0", isLowerBound: false };
