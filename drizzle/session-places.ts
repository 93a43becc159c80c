// Which pull requests explain the calls of a session, judged when what they rest on changes and kept (decision: Explanations are
// kept, and judged again where facts changed). Triggers mark the sessions; until a turn of the rollups has judged them, reports do.
import { EXPLANATIONS, type Explanation } from "#shared/explanation.ts";
import { BRANCH_ORDER, IS_OF_BRANCH } from "./contexts.ts";
import { isCounted } from "./session-links.ts";

/** The place of an explanation: the first that applies counts. */
export const placeNumber = (name: Explanation): number => EXPLANATIONS.indexOf(name);

/** Whether the GitHub App does not see the repository of a link or context. */
const isOutside = (row: string): string => `${row}.repository is not null and not exists (
      select from repositories q where q.org_id = ${row}.org_id and q.covered
        and (lower(q.full_name) = ${row}.repository or lower(q.former_names::text)::jsonb ? ${row}.repository))`;

/** Relations with the marked sessions, and those linked to them: what was judged of them may have changed. */
const judgedTables = (org: string, most = ""): string => `
  marks as materialized (select m.id, m.session from session_marks m where m.org_id = ${org} order by m.id ${most}),
  affected as materialized (
    with recursive it(session) as (
      select m.session from marks m
      union select l.session from it join session_links l on l.org_id = ${org} and l.of_session = it.session)
    select it.session from it),
  tasks as materialized (
    with recursive it(session, declarer, task) as (
      select a.session, null::text collate "C", a.session from affected a
      union
      select t.session, l.declarer, l.of_session from it t
      join session_links l on l.org_id = ${org} and l.session = t.task and l.declarer = coalesce(t.declarer, l.declarer)
      where l.of_session <> t.session and case when t.task is not null then ${isCounted(org)} end)
    select * from it),
  known as materialized (
    select t.session, t.declarer, t.task, p.*, case
      when p.merged_at is not null and p.link in ('joined', 'unknown_session') then ${placeNumber("joined")}
      when p.link in ('claimed', 'conflict') then ${placeNumber("claimed_or_conflict")}
      when p.link = 'open' then ${placeNumber("open")}
      when p.link = 'not_merged' then ${placeNumber("closed_unmerged")} end as place
    from (select unnest(p.session_ids) as named, p.org_id, p.repository_id, p.number, p.state, p.link, p.opened_at, p.merged_at,
      p.head_branch, p.head_repository from pull_requests p where p.org_id = ${org} and exists (select from tasks)) p
    join tasks t on t.task = p.named),
  whole as materialized (
    select it.session, it.declarer, min(it.place) as place from (
      select session, declarer, place from known
      union all
      select l.session, l.declarer, ${placeNumber("outside_app")} from session_links l
      where l.org_id = ${org} and l.session in (select session from affected) and l.removed_at is null and ${isOutside("l")}
    ) it where it.place is not null group by it.session, it.declarer),
  agents as materialized (
    select a.session, a.session as agent from affected a
    union select g.session, g.agent_session from session_agents g where g.org_id = ${org} and g.session in (select session from affected)),
  context_places as materialized (
    select s.session, k.declarer, s.agent, k.id, coalesce(p.place, case when ${isOutside("k")}
        then ${placeNumber("outside_app")} else ${placeNumber("no_pull_request")} end) as place,
      case when row_number() over (partition by s.session, k.declarer, s.agent order by k.declared_at) = 1 then 'epoch'
        else k.declared_at end as since
    from agents s join session_contexts k on k.org_id = ${org} and k.session = s.agent
    left join (
      select p.session, p.context, min(p.place) as place from (
        select distinct on (p.session, p.task, k.id) p.session, k.id as context, p.place
        from known p join agents s on s.session = p.session
        join session_contexts k on k.org_id = ${org} and k.session = s.agent and k.declarer = coalesce(p.declarer, k.declarer)
        where p.head_branch is null or ${IS_OF_BRANCH}
        order by p.session, p.task, k.id, p.link = 'claimed', p.head_branch is null,
          case when p.head_branch is null then row(coalesce(p.merged_at, 'infinity'), p.repository_id, p.number) end, ${BRANCH_ORDER}
      ) p group by p.session, p.context
    ) p on p.session = s.session and p.context = k.id),
  judged as materialized (
    select w.session, w.declarer, null::text as agent, null::timestamptz as since, least(w.place, o.place) as place
    from whole w left join whole o on o.session = w.session and o.declarer is null
    where not exists (select from context_places s where s.session = w.session and s.declarer = w.declarer)
    union all
    select s.session, s.declarer, null, null, case when bool_or(s.agent = s.session) and min(s.place) = max(s.place)
      then min(s.place) else least(min(w.place), ${placeNumber("no_pull_request")}) end
    from context_places s left join whole w on w.session = s.session and coalesce(w.declarer, s.declarer) = s.declarer
    group by s.session, s.declarer
    union all
    select s.session, s.declarer, s.agent, s.since, s.place from context_places s
    where exists (
      select from context_places o where o.session = s.session and o.declarer = s.declarer
      having not bool_or(o.agent = o.session) or min(o.place) < max(o.place)))`;

/**
 * Relations up to `places`: rows `session`, `declarer`, `agent`, `since`, `place`. For calls of a session: of anyone, where
 * `declarer` is null, else of that one. `agent` and `since`: of those under that id of an agent's from then on alone.
 */
export const placesTables = (org: string): string => `${judgedTables(org)},
  places as materialized (
    select p.session, p.declarer, p.agent, p.since, p.place from session_places p
    where p.org_id = ${org} and p.session not in (select session from affected)
    union all select * from judged)`;

/** Judges the first marked sessions, and keeps it; as many rows as there were marks. In one snapshot, by the one writer. */
export const KEEP_PLACES = `with ${judgedTables("$1::text", "limit 2000")},
  gone as (delete from session_places p where p.org_id = $1::text and p.session in (select session from affected)),
  done as (delete from session_marks m where m.org_id = $1::text and m.id in (select id from marks) returning 1),
  kept as (insert into session_places (org_id, session, declarer, agent, since, place) select $1::text, j.* from judged j)
select from done`;
