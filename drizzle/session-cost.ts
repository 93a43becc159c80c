import { type SQL, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { isOfTask, makerOf, sessionsOfTasks, uncoveredTasks } from "./session-links.ts";

/**
 * `costUsd`: exact USD; null when no cost is known, and for calls on a subscription alone. `isLowerBound`: the cost is
 * unknown, or leaves out a call without a known cost. `subscription`: calls that a subscription paid, at list price, never
 * part of the cost; null: there are none.
 */
export type SessionCost = {
  requests: number;
  costUsd: string | null;
  isLowerBound: boolean;
  subscription: { requests: number; listUsd: string | null; isLowerBound: boolean } | null;
};

/**
 * Rows `session`, `model`, `at`, `owner`, `key_id`, `teams`, `records`, `cost_usd`, `uncertain` and `billed` (all but the subscription lane) for sessions: from
 * their single records, and from the sums of hours whose single records have been dropped.
 */
export const sessionCalls = sql`(
  select q.session, q.model, q.started_at as at, q.owner, q.key_id, q.teams, 1 as records, q.cost_usd, q.unpriced or q.partial or q.cost_usd is null as uncertain,
    q.channel <> 'subscription' as billed
  from requests q
  where q.org_id = ${DEFAULT_ORG} and q.started_at >= coalesce(
    (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}), '-infinity')
  union all
  select h.session, h.model, h.hour, h.owner, h.key_id, h.teams, h.records, h.cost_usd, h.uncertain > 0, h.channel <> 'subscription'
  from rollup_hours h
  where h.org_id = ${DEFAULT_ORG} and h.hour < (select raw_from from rollup_state where org_id = ${DEFAULT_ORG})
)`;

const ORG = `'${DEFAULT_ORG}'`;

/** Tasks, the sessions `named` for them, those with calls that are not counted, and all `calls` of the sessions. */
const tasksWithCalls = (sessions: readonly string[]): SQL => sql`
    with tasks as (select jsonb_array_elements_text(${JSON.stringify(sessions)}::jsonb) as session),
      named as materialized (${sql.raw(sessionsOfTasks("tasks", ORG))}),
      uncovered as (${sql.raw(uncoveredTasks("named", ORG))}),
      calls as materialized (
        select * from ${sessionCalls} c where c.session = any(array(select named.session from named)))`;

/**
 * The cost of tasks' sessions so far, by task, as reports on merged pull requests count it: each task's own session and
 * linked sessions, without the subscription lane. `part`: a condition on calls `c`, for the cost of these alone.
 */
export async function sessionCosts(
  reader: Pick<PostgresJsDatabase, "execute">,
  sessions: readonly string[],
  part: SQL | null = null,
): Promise<Map<string, SessionCost>> {
  if (sessions.length === 0) return new Map();
  const rows = await reader.execute<CostRow>(sql`${tasksWithCalls(sessions)}
    select n.task, coalesce(sum(c.records), 0)::integer as requests,
      (coalesce(bool_or(c.billed and c.uncertain), false)
        or (${part === null} and n.task in (select uncovered.task from uncovered))) as uncertain,
      case when count(c.session) = 0 then '0' else (sum(c.cost_usd) filter (where c.billed))::text end as cost_usd,
      coalesce(sum(c.records) filter (where not c.billed), 0)::integer as lane_requests,
      (sum(c.cost_usd) filter (where not c.billed))::text as lane_usd,
      coalesce(bool_or(not c.billed and c.uncertain), false) as lane_uncertain
    from named n left join calls c on c.session = n.session and ${sql.raw(isOfTask)} and ${part ?? sql`true`}
    group by n.task`);
  return new Map(
    rows.map(({ task, requests, cost_usd: costUsd, uncertain, ...lane }) => [
      task,
      { requests, costUsd, isLowerBound: uncertain || costUsd === null, subscription: laneOf(lane) },
    ]),
  );
}

/** Part of a task's cost: by `kind`, of one session and declarer, model, day, or owner. */
export type CostPart = {
  kind: "session" | "model" | "day" | "owner";
  name: string | null;
  declarer: string | null;
  requests: number;
  costUsd: string | null;
  isLowerBound: boolean;
};

/** A task's cost by each kind, with days in that time zone; the parts of a kind add up to the task's cost. */
export async function taskCostParts(
  reader: Pick<PostgresJsDatabase, "execute">,
  task: string,
  zone: string,
): Promise<CostPart[]> {
  const rows = await reader.execute<
    Omit<CostPart, "costUsd" | "isLowerBound"> & Omit<CostRow, "task" | keyof LaneRow>
  >(
    sql`${tasksWithCalls([task])}
    select case when grouping(c.session) = 0 then 'session' when grouping(c.model) = 0 then 'model'
        when grouping(c.day) = 0 then 'day' else 'owner' end as kind,
      coalesce(c.session, c.model, c.day, c.owner) as name, c.declarer,
      sum(c.records)::integer as requests, bool_or(c.billed and c.uncertain) as uncertain,
      (sum(c.cost_usd) filter (where c.billed))::text as cost_usd
    from (
      select c.*, n.declarer, (c.at at time zone ${zone})::date::text as day
      from named n join calls c on c.session = n.session and ${sql.raw(isOfTask)}
    ) c
    group by grouping sets ((c.session, c.declarer), (c.model), (c.day), (c.owner))
    order by 1, sum(c.cost_usd) filter (where c.billed) desc nulls last, 2`,
  );
  return rows.map(({ uncertain, cost_usd: costUsd, ...part }) => ({
    ...part,
    costUsd,
    isLowerBound: uncertain || costUsd === null,
  }));
}

/** What a task's calls were like, of those whose single records are kept. `context`: input tokens per call. */
export type TaskFactors = {
  calls: number;
  sessions: number;
  subagents: number;
  retries: number;
  context: number;
};
export type TaskProfile = { factors: TaskFactors; model: string | null; modelUsd: string | null };

/** What sets the cost of tasks apart: how their calls were made, and the model that cost most. */
export async function taskProfiles(
  reader: Pick<PostgresJsDatabase, "execute">,
  sessions: readonly string[],
): Promise<Map<string, TaskProfile>> {
  if (sessions.length === 0) return new Map();
  const rows = await reader.execute<TaskFactors & { task: string; model: string | null; usd: string | null }>(
    sql`${tasksWithCalls(sessions)}, made as materialized (
      select n.task, c.* from named n join requests c on c.org_id = ${DEFAULT_ORG} and c.session = n.session
      where c.session = any(array(select named.session from named)) and ${sql.raw(isOfTask)})
    select m.task, count(*)::integer as calls, count(distinct m.session)::integer as sessions,
      count(distinct m.agent_id)::integer as subagents,
      sum(m.attempts - 1 + (m.state not in ('ok', 'client_gone', 'denied'))::int)::integer as retries,
      coalesce(avg(m.input_tokens), 0)::double precision as context, top.model, top.usd
    from made m
    left join (
      select distinct on (x.task) x.task, x.model, sum(x.cost_usd)::text as usd from made x
      where x.channel <> 'subscription' and x.cost_usd is not null group by x.task, x.model
      order by x.task, sum(x.cost_usd) desc, x.model
    ) top on top.task = m.task
    group by m.task, top.model, top.usd`,
  );
  return new Map(
    rows.map(({ task, model, usd: modelUsd, ...factors }) => [task, { factors, model, modelUsd }]),
  );
}

/** Tasks of which one owner made more than half of the calls, and a call of that owner is in `part`, a condition on `c`. */
export async function sessionMainOwners(
  reader: Pick<PostgresJsDatabase, "execute">,
  sessions: readonly string[],
  part: SQL,
): Promise<Set<string>> {
  if (sessions.length === 0) return new Set();
  const rows = await reader.execute<{ task: string }>(sql`${tasksWithCalls(sessions)}
    select m.task from (
      select n.task, sum(c.records) as records, sum(sum(c.records)) over (partition by n.task) as "all",
        bool_or(${part}) as is_part
      from named n join calls c on c.session = n.session and ${sql.raw(isOfTask)}
      group by n.task, ${sql.raw(makerOf("c"))}
    ) m where m.is_part and m.records * 2 > m."all"`);
  return new Set(rows.map(({ task }) => task));
}

type LaneRow = { lane_requests: number; lane_usd: string | null; lane_uncertain: boolean };
type CostRow = LaneRow & { task: string; requests: number; cost_usd: string | null; uncertain: boolean };

const laneOf = (row: LaneRow): SessionCost["subscription"] =>
  row.lane_requests === 0
    ? null
    : { requests: row.lane_requests, listUsd: row.lane_usd, isLowerBound: row.lane_uncertain };

const NO_CALLS: SessionCost = { requests: 0, costUsd: "0", isLowerBound: false, subscription: null };

/** The same for one task. */
export const sessionCost = async (
  reader: Pick<PostgresJsDatabase, "execute">,
  session: string,
): Promise<SessionCost> => (await sessionCosts(reader, [session])).get(session) ?? NO_CALLS;
