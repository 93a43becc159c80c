import type { DimensionName, Spec } from "#shared/report.ts";
import { DIMENSION, filterSql } from "./dimensions.ts";
import { type AggregateName, aggregatesOf } from "./measures.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";
import { type Ask, shownSql } from "./plan.ts";
import { NAMED_SESSION, type SessionParts } from "./relations.ts";
import type { Survey } from "./rollup/cover.ts";
import { sessionParts, withinSql } from "./rollup/spans.ts";
import { filtersOf } from "./spec.ts";

/** Told by a merge or a review itself, whoever made its session. */
const OWN: readonly DimensionName[] = ["repository", "session", "day", "week", "month"];

/** Whether outcomes are asked for in groups that do not depend on who made their sessions: each is in one then. */
export const isOfMerges = ({ source, dimensions, filters }: Spec): boolean =>
  source === "outcomes" &&
  [...dimensions, ...filtersOf(filters).map(([name]) => name)].every((name) => OWN.includes(name));

/**
 * Rows and total of such outcomes over rollups, as in relations.ts: counted by session before who made it, and what it
 * cost, is joined once for each. The columns are those of `shownSql`.
 */
export function planMerges(ask: Ask, survey: Survey): Query {
  const { dimensions, measures } = ask.spec;
  const params = parameters();
  const names = aggregatesOf(measures);
  const counted = COUNTS.filter((name) => names.includes(name));
  const people = names.includes("users");
  const cells = (groups: readonly string[]) => cellsSql(names, groups);
  const text = `with told as materialized (${toldSql(ask, params, counted)}
), cells as ${people ? "" : "not "}materialized (${cellsOfTold(sessionParts(ask.orgId, survey, params))}
), makers as (${MAKERS}
), facts as materialized (
  select t.*, ${JOINED} as joined, ${JOINED} and t.merged > 0 as spent, m.cost_usd, m.uncertain, m.first, m.last
  from told t left join makers m on m.session = t.session
), runs as (
  select current, count(*) as sessions, sum(cost_usd) as cost_usd
  from (select current, session, max(cost_usd) as cost_usd from facts where spent group by current, session) s
  group by current
)${people ? `, people as materialized (${PEOPLE}\n)` : ""},
group_cells as (${cells(["d1", "d2"])}),
total_cells as (${cells([])})
select shown.*, total::text as is_total from (${shownSql(dimensions, measures)}) shown order by total, place`;
  return { text, params: params.values };
}

const JOINED = "m.session is not null";

/** Counts of outcomes, each of which is in one group. */
const COUNTS = ["reverted_prs", "reviews"] as const satisfies readonly AggregateName[];

/** The outcomes of both windows that pass the filters, counted by group and by session: every one has a row of its own. */
function toldSql({ orgId, spec, periods, reverted }: Ask, params: Parameters, counted: readonly string[]) {
  const org = params.add(orgId, "text");
  const { current, previous } = periods;
  const [d1 = "''", d2 = "''"] = spec.dimensions.map((name) => DIMENSION[name].sql);
  const within = (column: string) =>
    [current, ...(previous ? [previous] : [])]
      .map((period) => withinSql(column, period, params))
      .join(" or ");
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(values, "text[]")),
  );
  // Most know of none, and the text of each pull request costs.
  const isReverted =
    reverted.length > 0 ? `repository_id || '#' || number = any(${params.add(reverted, "text[]")})` : "false";
  const counts: Readonly<Record<string, string>> = {
    reverted_prs: "count(*) filter (where merged and reverted)",
    reviews: "count(*) filter (where not merged)",
  };
  const told = counted.map((name) => `, ${counts[name]} as ${name}`).join("");
  return `
  select current, d1, d2, session, count(*) filter (where merged) as merged${told}
  from (
    select ${withinSql("r.started_at", current, params)} as current, (${d1})::text collate "C" as d1,
      (${d2})::text collate "C" as d2, r.session, r.merged, r.reverted
    from (
      select o.*, coalesce(p.full_name, o.repository_id::text) as repository
      from (
        select merged_at as started_at, repository_id, ${NAMED_SESSION} as session, true as merged,
          ${isReverted} as reverted
        from pull_requests where org_id = ${org} and (${within("merged_at")})
        union all
        select submitted_at, repository_id, session, false, false
        from reviews where org_id = ${org} and (${within("submitted_at")}) and session is not null and not dismissed
      ) o
      left join repositories p on p.org_id = ${org} and p.id = o.repository_id
    ) r
    where ${["true", ...filters].join(" and ")}
  ) t
  group by current, d1, d2, session`;
}

/** What is recorded of the sessions told of, and of those whose records are not summed up yet. */
const cellsOfTold = ({ cells, records }: SessionParts): string => `
  select session, coalesce(user_label, owner) as person, channel <> 'subscription' as billed, cost_usd, uncertain
  from (
    ${cells("any(array(select session from told where session is not null))")}
    union all
    ${records} and session is not null
  ) q`;

/** What each session cost, and of those who made it the first and the last by name; one without records is in none. */
const MAKERS = `
  select session, sum(cost_usd) filter (where billed) as cost_usd, bool_or(uncertain) filter (where billed) as uncertain,
    min(person) as first, max(person) as last
  from cells group by session`;

/** Who made the sessions of merges. Few of these have more than one. */
const PEOPLE = `
  select current, d1, d2, person from (
    select current, d1, d2, first as person from facts where spent and first is not null
    union all
    select f.current, f.d1, f.d2, c.person from cells c
    join (select * from facts where spent and first <> last) f on f.session = c.session
    where c.person is not null
  ) p
  group by current, d1, d2, person`;

/** A session's cost counts once in a group, and once in all. */
function cellsSql(names: readonly AggregateName[], groups: readonly string[]): string {
  const by = ["current", ...groups];
  const total = groups.length === 0;
  const same = (other: string) => by.map((name) => `${other}.${name} = g.${name}`).join(" and ");
  const figures: Partial<Record<AggregateName, string>> = {
    merged_prs: "g.merged_prs",
    joined_prs: "g.joined_prs",
    reverted_prs: "g.reverted_prs",
    reviews: "g.reviews",
    // Where nothing was merged, nothing was spent on merges: reviews alone cost 0, and are not of unknown cost.
    cost_usd: `case when g.merged_prs > 0 then ${total ? "r" : "g"}.cost_usd else 0 end`,
    sessions: total ? "coalesce(r.sessions, 0)" : "g.sessions",
    users: "coalesce(u.users, 0)",
  };
  const own = [
    "sum(merged)::bigint as merged_prs",
    "coalesce(sum(merged) filter (where joined), 0)::bigint as joined_prs",
    ...COUNTS.filter((name) => names.includes(name)).map((name) => `sum(${name})::bigint as ${name}`),
    ...(total
      ? []
      : ["sum(cost_usd) filter (where spent) as cost_usd", "count(*) filter (where spent) as sessions"]),
    "bool_or(merged > 0 and (cost_usd is null or uncertain)) as floor",
  ];
  const people = total ? "(select distinct current, person from people)" : "people";
  const users = `
  left join (select ${by.join(", ")}, count(*) as users from ${people} p group by ${by.join(", ")}) u on ${same("u")}`;
  return `
  select g.current, ${total ? "''::text as d1, ''::text as d2" : "g.d1, g.d2"}, ${[...names.map((name) => `${figures[name] ?? "null"} as ${name}`), "g.floor"].join(", ")}
  from (select ${[...by, ...own].join(", ")} from facts group by ${by.join(", ")}) g${total ? "\n  left join runs r on r.current = g.current" : ""}${names.includes("users") ? users : ""}
`;
}
