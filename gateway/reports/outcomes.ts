import { contextTables, nameSql } from "#drizzle/contexts.ts";
import { presentName } from "#drizzle/repository-name.ts";
import { isOfTask, sessionsOfTasks, uncoveredTasks } from "#drizzle/session-links.ts";
import { callsAsOf } from "./as-of.ts";
import type { AnswerRow } from "./assemble.ts";
import { coverIn, isCellIn } from "./buckets/published.ts";
import { type Ask, SPLIT, type Tasks } from "./context.ts";
import type { Engine } from "./engines.ts";
import { listedRows, type Parameters, parameters, type Query } from "./parameters.ts";
import { coverOf } from "./rollup/cover.ts";
import { spansSql, withinSql } from "./rollup/spans.ts";
import { filtersOf } from "./spec.ts";

/** The one session that a pull request names. */
const NAMED_SESSION = "case when link in ('joined', 'unknown_session') then session end";

/** Pull requests at their merge, and stamped reviews at their submission. */
const outcomeEvents = (withoutReviews = false): string => `(
    select org_id, merged_at as started_at, repository_id, number, ${nameSql("pull_requests")} as pull_request,
      null as review, ${NAMED_SESSION} as session
    from pull_requests where merged_at is not null${
      withoutReviews
        ? ""
        : `
    union all
    select org_id, submitted_at, repository_id, number, null, repository_id || '!' || id, session
    from reviews where session is not null`
    }
  )`;

const COST = "sum(q.cost_usd) filter (where q.channel <> 'subscription')";
/** The sum over all calls of a task, from those of one person and key. */
const ofTask = (column: string): string =>
  `sum(coalesce(sum(q.${column}) filter (where q.channel <> 'subscription'), 0)) over (partition by q.task) as ${column}`;
const MAKER = "q.task, q.owner, q.user_label, q.key_id";

/** The team and the cost centre of a task: of its calls in a team those that cost most together. */
const dearestTeams = ({ hasItems }: Engine): string => `
      select task, teams, cost_center from (
        select q.task, q.teams, q.cost_center,
          row_number() over (partition by q.task order by ${COST} desc nulls last, q.teams, q.cost_center) as place
        from calls q where ${hasItems("q.teams")} group by q.task, q.teams, q.cost_center
      ) d where place = 1`;

/**
 * Merged pull requests (at their merge) and stamped reviews (at their submission), once for each person and key that
 * made the requests of its sessions: the one it names, and those linked to it. A pull request is joined when it names
 * one session and a request of them is known now: late requests join it without anything being written.
 * `session_cost_usd` is the whole cost of its sessions, or its part of it (drizzle/contexts.ts), with which it is counted as one
 * `purse`; it is a lower bound where calls of them are not covered. Calls
 * are looked up for all sessions of the outcomes `o` that lie `among` those asked for at once.
 */
export function outcomesSql(ask: Ask, params: Parameters, among: string): string {
  const { engine, tasks, spec } = ask;
  const asked = [...spec.dimensions, ...filtersOf(spec.filters).map(([name]) => name)];
  const hasTeams = asked.includes("team") || asked.includes("cost_center");
  const org = params.add(ask.orgId, "text");
  const lists = <Name extends string>(rows: readonly Record<Name, string>[], names: readonly Name[]) =>
    listedRows({ engine, params }, rows, names);
  const once = engine.table(true);
  const asksForFixes = ask.spec.measures.includes("review_fix_cost_usd");
  return `(
  with events as ${once}(${eventsSql(org, among, ask.withoutReviews)}),
    named as ${once}(
      select distinct t.session as task, t.session as session, ${engine.noText} as declarer
      from events t where t.session is not null
      union all ${lists(tasks.linked, ["task", "session", "declarer"])}),
    uncovered as ${once}(${lists(
      tasks.uncovered.map((task) => ({ task })),
      ["task"],
    )}),
    split as ${once}(${lists(tasks.split, SPLIT)}),
    calls as ${once}(
      select c.*, n.task from (${sessionRows(ask, params, org)}) c join named n on n.session = c.session
      where ${isOfTask}
    )${
      hasTeams
        ? `,
    dearest as ${once}(${dearestTeams(engine)})`
        : ""
    }${asksForFixes ? fixTables(ask, params, org) : ""}
  select o.org_id as org_id, o.started_at as started_at, o.pull_request as pull_request, o.review as review,
    coalesce(p.full_name, o.repository_id::text) as repository, o.session as session,
    coalesce(p.full_name, o.repository_id::text) || '#' || o.number as pull_request_name, q.author_login as author,
    q.kind as pr_kind, q.additions::bigint + q.deletions as pr_lines, q.changed_files as pr_files,
    m.key_id is not null as attributed, m.owner as owner, m.user_label as user_label, m.key_id as key_id,
    ${hasTeams ? "t.teams as teams, t.cost_center as cost_center," : ""}
    case when o.pull_request is not null then coalesce(m.user_label, m.owner) end as person,
    case when o.pull_request is not null and m.key_id is not null then o.session end as run,
    case when o.pull_request is not null and m.key_id is not null then coalesce(v.pull_request, o.session) end as purse, true as metered,
    case when v.is_rest is null then m.cost_usd when v.is_rest = 'true' then coalesce(m.cost_usd, 0) - v.cost
      else v.cost end as session_cost_usd,
    o.pull_request is not null and (m.task is null or u.task is not null or case
      when v.is_rest is null then m.cost_usd is null or m.uncertain > 0
      when v.is_rest = 'true' then m.uncertain > v.uncertain or m.records = v.records
      else v.uncertain > 0 or v.records = 0 or m.records > v.covered end) as uncertain${
        asksForFixes
          ? `, case when m.key_id is not null then case when v.is_rest = 'false' then v.fix_usd
      else coalesce(f.cost_usd, 0) - case when v.is_rest is null then 0 else v.fix_usd end end end as fix_cost_usd`
          : ""
      }
  from events o
  left join (
    select pull_request, is_rest, ${SPLIT.slice(2, -1).map((name) => `${engine.exact(name)} as ${name}`)}, ${engine.exact("cost_usd")} as cost
    from split) v on v.pull_request = o.pull_request
  left join repositories p on p.org_id = o.org_id and p.id = o.repository_id
  left join pull_requests q on q.org_id = o.org_id and q.repository_id = o.repository_id and q.number = o.number
  left join uncovered u on u.task = o.session
  left join (
    select ${MAKER}, sum(${COST}) over (partition by q.task) as cost_usd,
      ${ofTask("records")}, ${ofTask("uncertain")}
    from calls q
    group by ${MAKER}
  ) m on m.task = o.session${hasTeams ? "\n  left join dearest t on t.task = o.session" : ""}${asksForFixes ? "\n  left join fixes f on f.task = o.session" : ""}
)`;
}

const eventsSql = (org: string, among: string, withoutReviews = false): string =>
  `select o.* from ${outcomeEvents(withoutReviews)} o where o.org_id = ${org} and ${among}`;

/** What Postgres knows of the tasks with outcomes in the periods, as rows of one `part` of `Tasks` each. */
export function tasksQuery({ orgId, periods, spec }: Pick<Ask, "orgId" | "periods" | "spec">): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const spans = [periods.current, ...(periods.previous ? [periods.previous] : [])];
  const among = spans.map((period) => withinSql("o.started_at", period, params)).join(" or ");
  const none = SPLIT.map(() => "null").join(", ");
  const text = `with events as materialized (${eventsSql(org, `(${among})`)}),
  named as materialized (${sessionsOfTasks("events", org)}),
  uncovered as materialized (${uncoveredTasks("named", org)}),
  ${contextTables(org)}
select 'linked' as part, n.task, n.session, n.declarer, ${SPLIT.map((name) => `null as ${name}`).join(", ")}
from named n where n.session <> n.task
union all select 'uncovered', u.task, null, null, ${none} from uncovered u
union all select 'called', n.name, ${presentName("n.name", org)}, null, ${none}
from unnest(${params.add(spec.filters.repository ?? [], "text[]")}) as n(name)
union all select 'split', null, null, null, p.pull_request, p.is_rest::text, p.covered::text,
  coalesce(sum(m.records), 0)::text, coalesce(sum(m.uncertain), 0)::text,
  case when not p.is_rest or p.pull_requests = 1 then coalesce(sum(m.cost_usd) filter (where m.quarter >= v.at), 0)::text end, case when coalesce(sum(m.records), 0) = 0 then '0'
    when sum(m.known) > 0 then sum(m.cost_usd)::text when p.is_rest then '0' else '' end
from shares p left join moved m on m.whose = p.pull_request and m.billed
left join (${firstReviews(org)}) v on v.pull_request = p.pull_request
where p.covered is not null group by p.pull_request, p.pull_requests, p.is_rest, p.covered`;
  return { text, params: params.values };
}

const EVER = { fromMs: null, toMs: Number.POSITIVE_INFINITY };

/** Cells and single records of the sessions `named`, whenever these ran. */
function sessionRows(ask: Ask, params: Parameters, org: string): string {
  const { reach, engine, published } = ask;
  const versions = callsAsOf(ask, params);
  const columns = "session, owner, user_label, key_id, teams, cost_center, channel, cost_usd";
  const single = (
    within: string,
  ) => `select ${columns}, 1 as records, (unpriced or partial or cost_usd is null)::int as uncertain
      from ${versions ? `${versions} it` : "requests"}
      where org_id = ${org} and (${within}) and ${engine.isOfSessions("named")}`;
  const cover = published && coverIn(EVER, published);
  if (cover)
    return `
      select ${columns}, records, uncertain from cells
      where ${isCellIn([cover], params)} and org_id = ${org} and ${engine.isOfSessions("named")}
      union all ${single(spansSql("started_at", cover.raw, params))}`;
  if (!reach) return single("true");
  const { days, hours, raw } = coverOf(EVER, reach, null);
  const cells = (table: string, within: string) =>
    `select ${columns}, records, uncertain from ${table}
      where org_id = ${org} and (${within}) and session = any(array(select session from named))`;
  return `
      ${cells("rollup_sessions", spansSql("day", days, params))}
      union all ${cells("rollup_hours", spansSql("hour", hours, params))}
      union all ${single(spansSql("started_at", raw, params))}`;
}

export function tasksOf(rows: readonly AnswerRow[]): Tasks {
  const of = (part: string, names: readonly string[]) =>
    rows.flatMap((row) =>
      row["part"] === part ? [Object.fromEntries(names.map((name) => [name, row[name] ?? ""]))] : [],
    );
  // Each part has its own columns, and none of them is null there.
  return {
    linked: of("linked", ["task", "session", "declarer"]) as Tasks["linked"][number][],
    uncovered: of("uncovered", ["task"]).map(({ task = "" }) => task),
    split: of("split", SPLIT) as Tasks["split"][number][],
    called: new Map(of("called", ["task", "session"]).map(({ task = "", session = "" }) => [task, session])),
  };
}

/** When each merged pull request, or each session that one names, was first reviewed by another person than its author. */
const firstReviews = (org: string, by = `${nameSql("q")} as pull_request`): string => `
      select ${by}, min(v.submitted_at) as at from pull_requests q
      join reviews v on v.org_id = q.org_id and v.repository_id = q.repository_id and v.number = q.number
      where q.org_id = ${org} and q.merged_at is not null and q.link in ('joined', 'unknown_session')
        and lower(coalesce(v.reviewer_login, '')) <> lower(coalesce(q.author_login, ' '))
      group by 1`;

/** What calls cost after the first review of a task's pull request by another person than its author. */
function fixTables({ engine, reach }: Ask, params: Parameters, org: string): string {
  const once = engine.table(true);
  const columns = "session, owner, key_id, channel, cost_usd";
  const sessions = "(select n.session as session from named n join reviewed w on w.task = n.task) s";
  const calls = (table: string, at: string, within: string) =>
    `select ${columns}, ${at} as at from ${table} where org_id = ${org} and ${within}
        and ${engine.isOfSessions(sessions)}`;
  const rawFrom = reach?.rawFromMs == null ? null : params.instant(reach.rawFromMs);
  const single = calls("requests", "started_at", rawFrom ? `started_at >= ${rawFrom}` : "true");
  const sums = rawFrom ? `\n        union all ${calls("rollup_hours", "hour", `hour < ${rawFrom}`)}` : "";
  return `,
    reviewed as ${once}(${firstReviews(org, "q.session as task")}
    ),
    fixes as ${once}(
      select n.task as task, sum(c.cost_usd) as cost_usd from (
        ${single}${sums}
      ) c join named n on n.session = c.session join reviewed w on w.task = n.task
      where ${isOfTask} and c.at >= w.at and c.channel <> 'subscription'
      group by n.task
    )`;
}
