import { type SQL, sql } from "drizzle-orm";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { contextTables } from "./contexts.ts";
import type { Runner } from "./database.ts";
import { isOfTask, makerOf, sessionsOfTasks, uncoveredTasks } from "./session-links.ts";

/**
 * `costUsd`: exact USD; null when no cost is known, and for calls on a subscription alone. `isLowerBound`: the cost is
 * unknown, or leaves out a call without a known cost. `subscription`: calls that a subscription paid, at list price, never
 * part of the cost; null without any. `isSplit`: contexts say which of the session's calls are its own. `lastAt`: when the latest
 * call was made that counts, to the quarter of an hour where it is split; null without one. `isOpen`: its branch is what an
 * agent of its task declared last.
 */
export type SessionCost = {
  requests: number;
  costUsd: string | null;
  isLowerBound: boolean;
  isSplit: boolean;
  lastAt: string | null;
  isOpen: boolean;
  subscription: { requests: number; listUsd: string | null; isLowerBound: boolean } | null;
};

/**
 * Rows `session`, `model`, `at`, `owner`, `key_id`, `teams`, `records`, `known` and `uncertain` (of them), `cost_usd` and `billed` (all but the
 * subscription lane) for sessions: from their single records, and from the sums of hours whose single records have been
 * dropped.
 */
export const sessionCalls = sql`(
  select q.session, q.model, q.started_at as at, q.owner, q.key_id, q.teams, 1 as records, (q.cost_usd is not null)::int as known,
    (q.unpriced or q.partial or q.cost_usd is null)::int as uncertain, q.cost_usd, q.channel <> 'subscription' as billed
  from requests q
  where q.org_id = ${DEFAULT_ORG} and q.started_at >= coalesce(
    (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}), '-infinity')
  union all
  select h.session, h.model, h.hour, h.owner, h.key_id, h.teams, h.records, case when h.cost_usd is null then 0 else h.records end,
    h.uncertain, h.cost_usd, h.channel <> 'subscription'
  from rollup_hours h
  where h.org_id = ${DEFAULT_ORG} and h.hour < (select raw_from from rollup_state where org_id = ${DEFAULT_ORG})
)`;

const ORG = `'${DEFAULT_ORG}'`;

/** A pull request by its repository's id and its number, and the session that it names. */
export type CostedPullRequest = { repositoryId: number; number: number; session: string | null };
export const pullRequestName = ({ repositoryId, number }: CostedPullRequest): string =>
  `${repositoryId}#${number}`;

/**
 * The `calls` of pull requests, `whose`, and pull requests that are `uncovered`: calls of theirs are not counted. Sums of
 * their stretches that belong to others are taken off the whole of their tasks. Calls of a quarter of an hour are one row
 * where they share the rest, because a session may have many calls and many pull requests.
 */
const pullRequestCalls = (asked: readonly CostedPullRequest[]): SQL => sql`
    with asked as (
      select name, session from jsonb_to_recordset(${JSON.stringify(
        asked.flatMap((it) =>
          it.session === null ? [] : { name: pullRequestName(it), session: it.session },
        ),
      )}::jsonb) as it(name text, session text)),
      named as materialized (${sql.raw(sessionsOfTasks("asked", ORG))}),
      ${sql.raw(contextTables(ORG))},
      uncovered as (${sql.raw(uncoveredTasks("named", ORG))}),
      whole as materialized (
        select n.task, n.declarer, c.session, c.model, max(c.at) as at, c.owner, c.key_id, c.teams, sum(c.records) as records,
          sum(c.known) as known, sum(c.uncertain) as uncertain, sum(c.cost_usd) as cost_usd, c.billed
        from ${sessionCalls} c join named n on n.session = c.session and ${sql.raw(isOfTask)}
        where c.session = any(array(select named.session from named))
        group by n.task, n.declarer, c.session, c.model, date_bin('15 minutes', c.at, 'epoch'), c.owner, c.key_id, c.teams, c.billed),
      calls as materialized (
        select p.pull_request as whose, c.* from shares p join whole c on c.task = p.task
        where p.is_rest and p.pull_request in (select asked.name from asked)
        union all
        select m.whose, m.task, m.declarer, m.session, m.model, m.quarter, m.owner, m.key_id, m.teams, m.sign * m.records,
          m.sign * m.known, m.sign * m.uncertain, m.sign * m.cost_usd, m.billed
        from moved m where m.whose in (select asked.name from asked)),
      floors as (
        select p.pull_request as whose from shares p where p.task in (select uncovered.task from uncovered)
          or not p.is_rest and p.covered < (select sum(c.records) from whole c where c.task = p.task and c.billed))`;

const sumOf = (column: string, part = "c.billed") =>
  sql.raw(`coalesce(sum(c.${column}) filter (where ${part}), 0)`);
const usdOf = (part: string) =>
  sql`case when ${sumOf("known", part)} > 0 then sum(c.cost_usd) filter (where ${sql.raw(part)}) end`;

/**
 * The cost of pull requests so far, by name, as reports count it: of their tasks' own and linked sessions, without the
 * subscription lane, and, where contexts say so, only the stretches on its branch. `part`: a condition on calls `c`, for
 * the cost of these alone.
 */
export async function pullRequestCosts(
  reader: Runner,
  asked: readonly CostedPullRequest[],
  part: SQL | null = null,
): Promise<Map<string, SessionCost>> {
  if (asked.length === 0) return new Map();
  const rows = await reader.execute<
    CostRow & { is_split: boolean; last_at: string | null; is_open: boolean }
  >(sql`
    ${pullRequestCalls(asked)},
      latest as (
        select q.whose, max(q.at) as at from (
          select c.whose, max(c.at) as at from calls c group by c.whose, date_bin('15 minutes', c.at, 'epoch') having sum(c.records) > 0
        ) q group by q.whose),
      opened as (
        select distinct s.pull_request as whose from stretches s
        join session_contexts k on k.org_id = ${DEFAULT_ORG} and k.id = s.context
        where not exists (
          select from session_contexts l where l.org_id = k.org_id and l.session = k.session and l.declarer = k.declarer
            and l.declared_at > k.declared_at))
    select a.name, coalesce(sum(c.records), 0)::integer as requests,
      (${sumOf("uncertain")} > 0 or ${part === null} and (
        a.name in (select floors.whose from floors) or bool_or(p.covered is not null) and ${sumOf("records")} = 0)) as uncertain,
      case when coalesce(sum(c.records), 0) = 0 then '0' else (${usdOf("c.billed")})::text end as cost_usd,
      ${sumOf("records", "not c.billed")}::integer as lane_requests,
      (${usdOf("not c.billed")})::text as lane_usd,
      ${sumOf("uncertain", "not c.billed")} > 0 as lane_uncertain,
      coalesce(bool_or(p.covered is not null), false) as is_split,
      (select l.at from latest l where l.whose = a.name) as last_at, a.name in (select o.whose from opened o where o.whose is not null) as is_open
    from asked a left join shares p on p.pull_request = a.name left join calls c on c.whose = a.name and ${part ?? sql`true`}
    group by a.name`);
  return new Map(
    rows.map(
      ({ name, requests, uncertain, cost_usd, is_split: isSplit, last_at: at, is_open: isOpen, ...lane }) => [
        name,
        {
          requests,
          ...priced({ uncertain, cost_usd }),
          isSplit,
          isOpen,
          subscription: laneOf(lane),
          lastAt: at === null ? null : new Date(at).toISOString(),
        },
      ],
    ),
  );
}

/** Part of a pull request's cost: by `kind`, of one session and declarer, model, day, or owner. */
export type CostPart = {
  kind: "session" | "model" | "day" | "owner";
  name: string | null;
  declarer: string | null;
  requests: number;
  costUsd: string | null;
  isLowerBound: boolean;
};

/** A pull request's cost by each kind, with days in that time zone; the parts of a kind add up to its cost. */
export async function costParts(reader: Runner, asked: CostedPullRequest, zone: string): Promise<CostPart[]> {
  const rows = await reader.execute<
    Omit<CostPart, "costUsd" | "isLowerBound"> & Omit<CostRow, "name" | keyof LaneRow>
  >(
    sql`${pullRequestCalls([asked])}
    select case when grouping(c.session) = 0 then 'session' when grouping(c.model) = 0 then 'model'
        when grouping(c.day) = 0 then 'day' else 'owner' end as kind,
      coalesce(c.session, c.model, c.day, c.owner) as name, c.declarer,
      sum(c.records)::integer as requests, ${sumOf("uncertain")} > 0 as uncertain,
      (${usdOf("c.billed")})::text as cost_usd
    from (select c.*, (c.at at time zone ${zone})::date::text as day from calls c where c.whose = ${pullRequestName(asked)}) c
    group by grouping sets ((c.session, c.declarer), (c.model), (c.day), (c.owner))
    having sum(c.records) > 0
    order by 1, sum(c.cost_usd) filter (where c.billed) desc nulls last, 2`,
  );
  return rows.map(priced);
}

/** Stretches of a task on one branch, which count for the pull request of that name; null: for none. */
export type Stretch = Pick<CostPart, "requests" | "costUsd" | "isLowerBound"> & {
  repository: string | null;
  branch: string | null;
  pullRequest: string | null;
};

/** All calls of a pull request's task by branch, if contexts name one; those that no context covers have no branch. */
export async function taskStretches(reader: Runner, asked: CostedPullRequest): Promise<Stretch[]> {
  const rows = await reader.execute<
    Omit<Stretch, "costUsd" | "isLowerBound" | "pullRequest"> &
      Omit<CostRow, "name" | keyof LaneRow> & { pull_request: string | null }
  >(sql`${pullRequestCalls([asked])}
    select c.repository, c.branch, coalesce(c.pull_request, (
        select p.pull_request from shares p where p.is_rest and (c.branch is null or p.head_branch is null))) as pull_request,
      sum(c.records)::integer as requests, ${sumOf("uncertain")} > 0 as uncertain, (${usdOf("c.billed")})::text as cost_usd
    from (
      select repository, branch, pull_request, records, known, uncertain, cost_usd, billed from stretches
      union all select null, null, null, records, known, uncertain, cost_usd, billed from whole
      union all select null, null, null, -records, -known, -uncertain, -cost_usd, billed from stretches
    ) c
    where exists (select from stretches)
    group by c.repository, c.branch, 3 having sum(c.records) > 0
    order by c.branch is null, sum(c.cost_usd) filter (where c.billed) desc nulls last, c.branch`);
  return rows.map(({ pull_request: pullRequest, ...row }) => ({ ...priced(row), pullRequest }));
}

const priced = <Row extends { uncertain: boolean; cost_usd: string | null }>({
  uncertain,
  cost_usd: costUsd,
  ...row
}: Row) => ({ ...row, costUsd, isLowerBound: uncertain || costUsd === null });

/** Pull requests of which one owner made more than half of the calls, and a call of that owner is in `part`, a condition on `c`. */
export async function mainOwners(
  reader: Runner,
  asked: readonly CostedPullRequest[],
  part: SQL,
): Promise<Set<string>> {
  if (asked.length === 0) return new Set();
  const rows = await reader.execute<{ name: string }>(sql`${pullRequestCalls(asked)}
    select m.whose as name from (
      select c.whose, sum(c.records) as records, sum(sum(c.records)) over (partition by c.whose) as "all",
        bool_or(${part}) as is_part
      from calls c
      group by c.whose, ${sql.raw(makerOf("c"))}
    ) m where m.is_part and m.records * 2 > m."all"`);
  return new Set(rows.map(({ name }) => name));
}

type LaneRow = { lane_requests: number; lane_usd: string | null; lane_uncertain: boolean };
type CostRow = LaneRow & { name: string; requests: number; cost_usd: string | null; uncertain: boolean };

const laneOf = (row: LaneRow): SessionCost["subscription"] =>
  row.lane_requests === 0
    ? null
    : { requests: row.lane_requests, listUsd: row.lane_usd, isLowerBound: row.lane_uncertain };
