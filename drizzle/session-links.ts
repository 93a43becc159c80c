// Which sessions a task's pull request has, and whether any are missing (decision: Sessions are linked by declaration).
// The only definition, as SQL for reports and pages. A link is judged here, each time that it is counted.
import { hasCalls, isClaim } from "./claims.ts";

/** Who made a call, or declared a link: its key's owner, or a key without one. */
export const makerOf = (row: string): string => `lower(coalesce(${row}.owner, cast(${row}.key_id as text)))`;

/** Who made the first known call of a session, or, while none is known, declared the first link to it: it is theirs. */
export const ownerOf = (session: string, org: string): string => {
  const rawFrom = `(select s.raw_from from rollup_state s where s.org_id = ${org})`;
  return `coalesce(
    (select ${makerOf("h")} from rollup_hours h
      where h.org_id = ${org} and h.session = ${session} and h.hour < ${rawFrom} order by h.hour limit 1),
    (select ${makerOf("r")} from requests r
      where r.org_id = ${org} and r.session = ${session} order by r.started_at limit 1),
    (select first.declarer from session_links first
      where first.org_id = ${org} and first.of_session = ${session} order by first.declared_at limit 1))`;
};

/**
 * Whether a link `l` may count for its task: the task is its declarer's own, its owner declared the same repository and
 * branch for it, or the declarer is the author of a pull request that names it.
 */
export const isAllowed = (org: string): string => `exists (
    select from (select ${ownerOf("l.of_session", org)} as name) owner where owner.name = l.declarer
    or l.branch is not null and exists (
      select from session_links e
      where e.org_id = ${org} and e.of_session = l.of_session and e.repository = l.repository and e.branch = l.branch
        and e.removed_at is null and e.declarer = owner.name)
    or exists (
      select from pull_requests p join people m on m.org_id = p.org_id and lower(m.github_login) = lower(p.author_login)
      where p.org_id = ${org} and p.session = l.of_session and m.email = l.declarer and not ${isClaim("p")}))`;

/** A session that a pull request names is that pull request's own, unless it only claims it. */
const isNamed = (session: string, org: string): string =>
  `exists (select from pull_requests p where p.org_id = ${org} and p.session = ${session} and not ${isClaim("p")})`;

/** Whether a link `l` counts now. */
export const isCounted = (org: string): string =>
  `(l.counts and not ${isNamed("l.session", org)} and ${isAllowed(org)})`;

/**
 * Rows `task`, `session`, `declarer`: each task's own session, with all its calls (`declarer` is null), and those linked
 * to it, with the calls that their declarer made. A session that is linked brings those that the same declarer linked to
 * it, as from another clone of the branch. `tasks` is a relation with a column `session`.
 */
export const sessionsOfTasks = (tasks: string, org: string): string => {
  // The case keeps the judgement, which is dear, from all links that the join leaves out.
  const counts = `l.org_id = ${org} and ${isCounted(org)}`;
  return `
  select distinct t.session as task, t.session, null as declarer from ${tasks} t where t.session is not null
  union
  (with recursive linked(task, session, declarer) as (
    select l.of_session, l.session, l.declarer from session_links l
    where l.of_session in (select t.session from ${tasks} t) and ${counts}
    union
    select k.task, l.session, l.declarer from linked k
    join session_links l on l.org_id = ${org} and l.of_session = k.session and l.declarer = k.declarer
    where l.session <> k.task and case when k.task is not null then ${counts} end)
  select linked.task, linked.session, linked.declarer from linked)`;
};

/** Whether a call `c` of the session `n.session` is one of the task `n.task`; `n` is a row of `sessionsOfTasks`. */
export const isOfTask = `(n.declarer is null or n.declarer = ${makerOf("c")})`;

/** Whether a link `l` was declared in the repository of a pull request that names its task. */
const IS_SAME_REPOSITORY = `exists (
      select from pull_requests p join repositories q on q.org_id = p.org_id and q.id = p.repository_id
      where p.org_id = l.org_id and p.session = l.of_session and lower(q.full_name) = l.repository)`;

/**
 * Tasks, as `task`, with calls that are not counted: a declared session that counts elsewhere or was declared in the same
 * repository without a right to the task, one that was declared on the task's branch before the merge and for no other
 * pull request, or calls under an agent's id that made calls of the task and that no link covers. `named` is a relation of
 * `sessionsOfTasks`.
 */
export const uncoveredTasks = (named: string, org: string): string => `
  select n.task from ${named} n join session_links l on l.org_id = ${org} and l.of_session = n.task
  where l.removed_at is null
    and case when not exists (select from ${named} o where o.task = n.task and o.session = l.session)
      then ${IS_SAME_REPOSITORY} or ${isAllowed(org)} end
  union
  select n.task from ${named} n
  join session_links a on a.org_id = ${org} and a.of_session = n.task and a.branch is not null and a.removed_at is null
  join session_links b on b.org_id = ${org} and b.repository = a.repository and b.branch = a.branch and b.removed_at is null
  where b.of_session <> n.task
    and not exists (select from ${named} o where o.task = n.task and o.session = b.session)
    and not ${isNamed("b.of_session", org)}
    and exists (select from pull_requests p
      where p.org_id = ${org} and p.session = n.task and b.declared_at < coalesce(p.merged_at, 'infinity') and not ${isClaim("p")})
    and ${hasCalls("b.session", org)}
  union
  select n.task from ${named} n join session_agents a on a.org_id = ${org} and a.session = n.session
  where not exists (select from ${named} o where o.task = n.task and o.session = a.agent_session)
    and ${hasCalls("a.agent_session", org)}
  union
  select n.task from ${named} n join session_agents a on a.org_id = ${org} and a.session = n.session
  join session_agents b on b.org_id = ${org} and b.agent_session = a.agent_session
  where b.session <> a.session
    and not exists (select from ${named} o where o.task = n.task and o.session = b.session)`;

/**
 * Rows `session`, `declarer`, `finding` for the links to the task `task`: `foreign_task` for a link without a right to it,
 * and `calls_of_others`, with the caller as `declarer`, for calls of others in a linked session.
 */
export const linkFindings = (task: string, org: string): string => `
  with linked as materialized (
    select l.session, l.declarer, ${isAllowed(org)} as allowed from session_links l
    where l.org_id = ${org} and l.of_session = ${task} and l.session <> l.of_session and l.removed_at is null)
  select l.session, l.declarer, 'foreign_task' as finding from linked l where not l.allowed
  union
  select l.session, ${makerOf("r")}, 'calls_of_others' from linked l
  join requests r on r.org_id = ${org} and r.session = l.session
  where l.allowed and not exists (
    select from linked o where o.session = l.session and o.declarer = ${makerOf("r")} and o.allowed)`;
