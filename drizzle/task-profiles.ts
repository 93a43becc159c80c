import { sql } from "drizzle-orm";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Runner } from "./database.ts";
import { isOfTask, sessionsOfTasks } from "./session-links.ts";

/** What a task's calls were like, of those whose single records are kept. `context`: input tokens per call. */
type TaskFactors = {
  calls: number;
  sessions: number;
  subagents: number;
  retries: number;
  context: number;
};
export type TaskProfile = { factors: TaskFactors; model: string | null; modelUsd: string | null };

/** What sets the cost of tasks apart: how their calls were made, and the model that cost most. */
export async function taskProfiles(
  reader: Runner,
  sessions: readonly string[],
): Promise<Map<string, TaskProfile>> {
  if (sessions.length === 0) return new Map();
  const rows = await reader.execute<TaskFactors & { task: string; model: string | null; usd: string | null }>(
    sql`
    with tasks as (select jsonb_array_elements_text(${JSON.stringify(sessions)}::jsonb) as session),
      named as materialized (${sql.raw(sessionsOfTasks("tasks", `'${DEFAULT_ORG}'`))}), made as materialized (
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
