// Which sessions a task's pull request has, and whether any are missing (decision: Sessions are linked by declaration).
// The only definition, as SQL for reports and pages.

/** Links that count; a session that a pull request names is that pull request's own. */
const COUNTING = `(
  select l.org_id, l.session, l.of_session from session_links l
  where l.counts and not exists (select from pull_requests p where p.org_id = l.org_id and p.session = l.session))`;

/** Rows `task`, `session`: each task's own session and those linked to it. `tasks` is a relation with a column `session`. */
export const sessionsOfTasks = (tasks: string, org: string): string => `
  select distinct t.session as task, t.session from ${tasks} t where t.session is not null
  union
  select l.of_session, l.session from ${COUNTING} l
  where l.org_id = ${org} and l.of_session in (select t.session from ${tasks} t)`;

/**
 * Tasks, as `task`, with calls that are not counted: a declared session that does not count there, or calls under an
 * agent's id that made calls of the task and that no link covers. `named` is a relation of `sessionsOfTasks`.
 */
export const uncoveredTasks = (named: string, org: string): string => `
  select n.task from ${named} n join session_links l on l.org_id = ${org} and l.of_session = n.task
  where not exists (select from ${named} o where o.task = n.task and o.session = l.session)
  union
  select n.task from ${named} n join session_agents a on a.org_id = ${org} and a.session = n.session
  where not exists (select from ${named} o where o.task = n.task and o.session = a.agent_session)
    and (exists (select from requests r where r.org_id = ${org} and r.session = a.agent_session)
      or exists (select from rollup_sessions r where r.org_id = ${org} and r.session = a.agent_session))
  union
  select n.task from ${named} n join session_agents a on a.org_id = ${org} and a.session = n.session
  join session_agents b on b.org_id = ${org} and b.agent_session = a.agent_session
  where b.session <> a.session
    and not exists (select from ${named} o where o.task = n.task and o.session = b.session)`;
