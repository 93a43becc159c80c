import { isUncertainPoint } from "#drizzle/schema/agent.ts";
import { isOfTask, sessionsOfTasks, uncoveredTasks } from "#drizzle/session-links.ts";
import type { SourceName } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import type { Ask, Tasks } from "./context.ts";
import { type Engine, listedTasks } from "./engines.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";
import { coverOf } from "./rollup/cover.ts";
import { spansSql, withinSql } from "./rollup/spans.ts";
import { filtersOf } from "./spec.ts";

/**
 * A relation gives one row per record, with these columns beside those that its dimensions and measures name:
 * `org_id`, `started_at`, `person` (null for a service account), `run` (the session, where it
 * counts), `attributed` (whether owner, label and key are known), `metered` (false in the subscription lane),
 * `uncertain` (its cost is unknown or a lower bound).
 */
const REQUESTS = `(
  select q.*, coalesce(q.user_label, q.owner) as person, q.session as run, true as attributed,
    q.channel <> 'subscription' as metered, q.unpriced or q.partial or q.cost_usd is null as uncertain,
    q.cache_read_tokens as cached_tokens, (q.latency_ms is not null)::int as timed
  from requests q
)`;

/** Calls of tools. One that was denied never ran, and costs nothing; any other without a price is unpriced. */
const TOOL_CALLS = `(
  select c.org_id, c.started_at, coalesce(c.user_label, c.owner) as person, c.session as run,
    true as attributed, true as metered, c.cost_usd is null and c.status <> 'denied' as uncertain, c.client, c.owner,
    c.user_label, c.key_id, c.teams, c.cost_center, c.channel, c.tags, c.session, c.server, c.tool, c.status,
    c.cost_usd is null and c.status <> 'denied' as unpriced,
    case when c.status = 'denied' then coalesce(c.cost_usd, 0) else c.cost_usd end as cost_usd,
    c.latency_ms, (c.latency_ms is not null)::int as timed
  from tool_calls c
)`;

/**
 * Points of agents' metrics, at their own time. Kinds that are parts of others (drizzle/schema/agent.ts) do not count
 * as input or output again. A duration without a count of operations gives no mean.
 */
const AGENT_METRICS = `(
  select a.org_id, a.ended_at as started_at,
    coalesce(a.user_label, a.owner) as person, a.session as run, true as attributed, true as metered,
    ${isUncertainPoint("a")} as uncertain, a.client, a.model, a.owner, a.user_label, a.key_id, a.teams, a.cost_center,
    a.session, a.operations,
    case when a.kind in ('input', 'cache_read', 'cache_write') then a.tokens end as input_tokens,
    case when a.kind = 'output' then a.tokens end as output_tokens,
    case when a.kind in ('cache_read', 'cached_input') then a.tokens end as cached_tokens, a.cost_usd,
    case when a.operations > 0 then a.duration_seconds * 1000 end as latency_ms, a.operations as timed
  from agent_points a
)`;

/** The one session that a pull request names. */
const NAMED_SESSION = "case when link in ('joined', 'unknown_session') then session end";

/** Pull requests at their merge, and stamped reviews at their submission. */
const outcomeEvents = (withoutReviews = false): string => `(
    select org_id, merged_at as started_at, repository_id, number, repository_id || '#' || number as pull_request,
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
const uncertainIn = ({ someOf }: Engine): string =>
  `${someOf("q.uncertain")} filter (where q.channel <> 'subscription')`;
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
 * `session_cost_usd` is the whole cost of its sessions; it is a lower bound where calls of them are not covered. Calls
 * are looked up for all sessions of the outcomes `o` that lie `among` those asked for at once.
 */
function outcomes(ask: Ask, params: Parameters, among: string): string {
  const { engine, tasks, spec } = ask;
  const asked = [...spec.dimensions, ...filtersOf(spec.filters).map(([name]) => name)];
  const hasTeams = asked.includes("team") || asked.includes("cost_center");
  const org = params.add(ask.orgId, "text");
  const list = (values: readonly string[]) => params.add(values, "text[]");
  const { named, uncovered } = tasks
    ? listedTasks({
        task: list(tasks.linked.map(({ task }) => task)),
        session: list(tasks.linked.map(({ session }) => session)),
        declarer: list(tasks.linked.map(({ declarer }) => declarer)),
        uncovered: list(tasks.uncovered),
      })
    : { named: sessionsOfTasks("events", org), uncovered: uncoveredTasks("named", org) };
  const once = engine.table(true);
  const asksForFixes = ask.spec.measures.includes("review_fix_cost_usd");
  return `(
  with events as ${once}(${eventsSql(org, among, ask.withoutReviews)}),
    named as ${once}(${named}),
    uncovered as ${once}(${uncovered}),
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
    true as metered, m.cost_usd as session_cost_usd,
    o.pull_request is not null and (m.cost_usd is null or m.uncertain or u.task is not null) as uncertain${
      asksForFixes ? ", case when m.key_id is not null then coalesce(f.cost_usd, 0) end as fix_cost_usd" : ""
    }
  from events o
  left join repositories p on p.org_id = o.org_id and p.id = o.repository_id
  left join pull_requests q on q.org_id = o.org_id and q.repository_id = o.repository_id and q.number = o.number
  left join uncovered u on u.task = o.session
  left join (
    select ${MAKER}, sum(${COST}) over (partition by q.task) as cost_usd,
      ${engine.someOf(uncertainIn(engine))} over (partition by q.task) as uncertain
    from calls q
    group by ${MAKER}
  ) m on m.task = o.session${hasTeams ? "\n  left join dearest t on t.task = o.session" : ""}${asksForFixes ? "\n  left join fixes f on f.task = o.session" : ""}
)`;
}

/** What calls cost after the first review of a task's pull request by another person than its author. */
function fixTables({ engine, reach }: Ask, params: Parameters, org: string): string {
  const once = engine.table(true);
  const columns = "session, owner, key_id, channel, cost_usd";
  const calls = (table: string, at: string, within: string) =>
    `select ${columns}, ${at} as at from ${table} where org_id = ${org} and ${within}
        and session in (select n.session from named n join reviewed w on w.task = n.task)`;
  const rawFrom = reach?.rawFromMs == null ? null : params.instant(reach.rawFromMs);
  const single = calls(engine.callsBySession, "started_at", rawFrom ? `started_at >= ${rawFrom}` : "true");
  const sums = rawFrom ? `\n        union all ${calls("rollup_hours", "hour", `hour < ${rawFrom}`)}` : "";
  return `,
    reviewed as ${once}(
      select q.session as task, min(v.submitted_at) as at from pull_requests q
      join reviews v on v.org_id = q.org_id and v.repository_id = q.repository_id and v.number = q.number
      where q.org_id = ${org} and q.merged_at is not null and q.link in ('joined', 'unknown_session')
        and lower(coalesce(v.reviewer_login, '')) <> lower(coalesce(q.author_login, ' '))
      group by q.session
    ),
    fixes as ${once}(
      select n.task as task, sum(c.cost_usd) as cost_usd from (
        ${single}${sums}
      ) c join named n on n.session = c.session join reviewed w on w.task = n.task
      where ${isOfTask} and c.at >= w.at and c.channel <> 'subscription'
      group by n.task
    )`;
}

const eventsSql = (org: string, among: string, withoutReviews = false): string =>
  `select o.* from ${outcomeEvents(withoutReviews)} o where o.org_id = ${org} and ${among}`;

/**
 * What Postgres knows of the tasks with outcomes in the periods: `task`, `session` and `declarer` of each session that is linked to one, and
 * tasks without a `session` that are not covered.
 */
export function tasksQuery({ orgId, periods }: Pick<Ask, "orgId" | "periods">): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const spans = [periods.current, ...(periods.previous ? [periods.previous] : [])];
  const among = spans.map((period) => withinSql("o.started_at", period, params)).join(" or ");
  const text = `with events as materialized (${eventsSql(org, `(${among})`)}),
  named as materialized (${sessionsOfTasks("events", org)}),
  uncovered as materialized (${uncoveredTasks("named", org)})
select n.task, n.session, n.declarer from named n where n.session <> n.task
union all select u.task, null, null from uncovered u`;
  return { text, params: params.values };
}

/** What `tasksQuery` answers. */
export function tasksOf(rows: readonly AnswerRow[]): Tasks {
  const linked = rows.flatMap(({ task, session, declarer }) =>
    task && session && declarer ? [{ task, session, declarer }] : [],
  );
  return { linked, uncovered: rows.flatMap(({ task, session }) => (task && !session ? [task] : [])) };
}

/** Cells and single records of the sessions `named`, whenever these ran. */
function sessionRows({ reach, engine }: Ask, params: Parameters, org: string): string {
  const columns = "session, owner, user_label, key_id, teams, cost_center, channel, cost_usd";
  const single = (within: string) => `select ${columns}, unpriced or partial or cost_usd is null as uncertain
      from ${engine.callsBySession}
      where org_id = ${org} and (${within}) and session in (select session from named)`;
  if (!reach) return single("true");
  const { days, hours, raw } = coverOf({ fromMs: null, toMs: Number.POSITIVE_INFINITY }, reach, null);
  const cells = (table: string, within: string) =>
    `select ${columns}, uncertain > 0 as uncertain from ${table}
      where org_id = ${org} and (${within}) and session = any(array(select session from named))`;
  return `
      ${cells("rollup_sessions", spansSql("day", days, params))}
      union all ${cells("rollup_hours", spansSql("hour", hours, params))}
      union all ${single(spansSql("started_at", raw, params))}`;
}

const RELATIONS = {
  requests: REQUESTS,
  tool_calls: TOOL_CALLS,
  agent_metrics: AGENT_METRICS,
} as const satisfies Partial<Record<SourceName, string>>;

/** The records of a source; `within` says of which instants `r.started_at` rows are wanted. */
export function relationOf(ask: Ask, params: Parameters, within: string): string {
  const { source } = ask.spec;
  if (source !== "outcomes") return RELATIONS[source];
  return outcomes(ask, params, within.replaceAll("r.started_at", "o.started_at"));
}
