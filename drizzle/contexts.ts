// What a pull request costs where contexts say which branch each stretch of its task's sessions worked on (decision: A
// stretch counts for its branch's pull request). The only definition, as SQL for reports and pages.
import { isClaim } from "./claims.ts";
import { isOfTask } from "./session-links.ts";

/** A pull request's name in reports: `<repository id>#<number>`. */
export const nameSql = (row: string): string => `${row}.repository_id || '#' || ${row}.number`;

/** Whether a context `k` was declared on the branch of a pull request `p`. */
export const IS_OF_BRANCH = `(p.head_branch = k.branch and (
        p.head_repository = k.repository or exists (
          select from repositories q where q.org_id = p.org_id and q.id = p.repository_id
            and (lower(q.full_name) = k.repository or lower(q.former_names::text)::jsonb ? k.repository))))`;

const IS_LATER = "p.merged_at >= date_trunc('second', k.declared_at)";
/**
 * The order of a branch's pull requests `p` for a context `k`: the first one that was merged after it was declared counts.
 * GitHub's clock shows whole seconds.
 */
export const BRANCH_ORDER = `case when ${IS_LATER} then 0 when p.state = 'open' then 1 when p.merged_at is not null then 2 else 3 end,
        case when ${IS_LATER} then p.merged_at end, p.merged_at desc, p.opened_at desc, p.number desc`;

/** Whether a pull request `p` was closed without a merge, and its branch has another one that names the session. */
const IS_REPLACED = `(p.state = 'closed' and exists (
        select from pull_requests o where o.org_id = p.org_id and o.session = p.session and o.head_branch = p.head_branch
          and o.head_repository = p.head_repository and o.state <> 'closed'))`;

/**
 * Relations over `named`, one of `sessionsOfTasks`, each call in at most one pull request of a task with contexts:
 *
 * - `stretches`: sums of the tasks' calls that contexts cover, with `branch`, `repository`, and the task's `pull_request` of
 *   that branch; null: it has none.
 * - `shares`: each task's pull requests. `is_rest`: all of the task is its own but what `moved` has; otherwise `moved` alone
 *   is. The rest belongs to the one pull request of a task, or to the first one of an unknown branch, without claims and
 *   those that were closed and replaced; `covered`: calls of the task outside the subscription lane that contexts cover.
 * - `moved`: by pull request, the stretches that go to others (`sign` -1), or, without the rest, its own ones.
 */
export const contextTables = (org: string): string => `
  stretches as materialized (
    select n.task, n.declarer, c.*, p.repository, p.branch, p.pull_request, c.channel <> 'subscription' as billed
    from named n join session_stretches c on c.org_id = ${org} and c.session = n.session and ${isOfTask} and c.records > 0
    join (
      select distinct on (u.task, u.context) u.task, u.context, k.repository, k.branch, ${nameSql("p")} as pull_request
      from (select distinct n.task, c.context from named n join session_stretches c
        on c.org_id = ${org} and c.session = n.session and c.records > 0) u
      join session_contexts k on k.org_id = ${org} and k.id = u.context
      left join pull_requests p on p.org_id = ${org} and p.session = u.task and ${IS_OF_BRANCH} and not ${isClaim("p")}
      order by u.task, u.context, ${BRANCH_ORDER}
    ) p on p.task = n.task and p.context = c.context
  ),
  shares as materialized (
    select p.*, s.covered,
      s.task is null or p.stands and p.place = 1 and (p.head_branch is null or p.pull_requests = 1) as is_rest
    from (
      select p.session as task, ${nameSql("p")} as pull_request, p.head_branch, p.stands,
        count(*) filter (where p.stands) over (partition by p.session) as pull_requests,
        row_number() over (partition by p.session, p.stands
          order by p.head_branch is not null, p.merged_at, p.repository_id, p.number) as place
      from (select p.*, not ${isClaim("p")} and not ${IS_REPLACED} as stands
        from pull_requests p where p.org_id = ${org} and p.session in (select n.task from named n)) p
    ) p left join (
      select task, coalesce(sum(records) filter (where billed), 0) as covered from stretches group by task
    ) s on s.task = p.task
  ),
  moved as materialized (
    select p.pull_request as whose, p.is_rest, case when p.is_rest then -1 else 1 end as sign, c.*
    from shares p join stretches c on c.task = p.task and case
      when p.is_rest then c.pull_request is distinct from p.pull_request
        and (c.pull_request is not null or p.head_branch is not null)
      else c.pull_request = p.pull_request end
  )`;
