import { ROWS_MAX } from "#shared/report.ts";
import type { Context } from "./context.ts";
import { CANDIDATES, factsSql } from "./facts.ts";
import { ceilingOf, p95Sql, topOf, withP95AtMost } from "./latencies.ts";
import { isFew, isFineAsked } from "./picked.ts";

/** Groups whose percentile is looked at to find out how high the others' would have to be. */
const TRIED = 2 * ROWS_MAX;

/** The groups that another table chooses, with the sum of their latencies and of how many calls it is. */
const latenciesOf = (context: Context, chosen: string): string => `
    select f.d1, f.d2, sum(f.latencies) as latencies, sum(f.latency_count)::bigint as calls
    from (${factsSql(context, context.dimensions, context.kind, chosen)}
    ) f where f.current and (f.d1, f.d2) in (select d1, d2 from ${chosen}) group by 1, 2`;

const percentiles = (groups: string): string => `
  select d1, d2, ${p95Sql("latencies::text")} as latency_p95_ms from (${groups}
  ) g`;

/** What the percentiles of a table reach so often as rows are shown: no group that stays below is shown. */
const reached = (name: string, among: string): string =>
  `${name} as (select latency_p95_ms from ${among} order by 1 desc nulls last offset ${ROWS_MAX - 1} limit 1)`;

const mayReach = (ms: string, name: string): string =>
  `((select latency_p95_ms from ${name}) is null or ${ms} >= (select latency_p95_ms from ${name}))`;

/** All groups, with the sum of the latencies of the current window and of how many calls it is. */
const ALL_GROUPS = `
    select d1, d2, sum(latencies) filter (where current) as latencies,
      (sum(latency_count) filter (where current))::bigint as calls
    from ranking group by 1, 2`;

/**
 * The groups whose highest bucket ends at or over what as many groups as are shown reach. It costs little to know, and the
 * percentile lies in or under it: so the latencies of the others need not be summed up.
 */
const candidates = (own: Context): string[] => [
  `tops as materialized (
  select d1, d2, max(${topOf("latencies")}) filter (where current) as top from ranking group by d1, d2
)`,
  `tried as materialized (select d1, d2 from tops where top is not null order by top desc limit ${TRIED})`,
  `tried_p95 as materialized (${percentiles(latenciesOf(own, "tried"))}\n)`,
  reached("least", "tried_p95"),
  `${CANDIDATES} as materialized (
  select d1, d2 from tops where ${mayReach(ceilingOf("top"), "least")}
)`,
];

/**
 * The table `ranked`: the groups that are shown where they stand in the order of their 95th percentile. What that is at
 * most is told of the sum of a group's latencies at little cost; those where this is highest tell what has to be reached,
 * and only of the others that may reach it the percentile is computed. Of all cells by model or route there are several
 * times as many, so that groups are left out before these sums are made.
 */
export const rankedByP95 = (context: Context): string[] => {
  const own = { ...context, entities: [], columns: ["latencies", "latency_count"] };
  const isDirect = !isFineAsked(context, context.dimensions) || isFew(context.ask);
  const groups = isDirect ? LIMITED : CANDIDATES;
  return [
    ...(isDirect ? [] : candidates(own)),
    `${LIMITED} as materialized (${withP95AtMost(isDirect ? ALL_GROUPS : latenciesOf(own, CANDIDATES))}\n)`,
    `highest_p95 as materialized (${percentiles(`
    select d1, d2, latencies from ${LIMITED} order by at_most desc nulls last limit ${TRIED}`)}
)`,
    reached("closer", "highest_p95"),
    `${CANDIDATES}_p95 as materialized (${percentiles(`
    select d1, d2, latencies from ${LIMITED} where ${mayReach("at_most", "closer")}`)}
)`,
    `ranked as materialized (
  select d1, d2 from ${groups} left join ${CANDIDATES}_p95 using (d1, d2)
  order by latency_p95_ms desc nulls last, d1, d2 limit ${ROWS_MAX}
)`,
  ];
};

const LIMITED = `${CANDIDATES}_at_most`;
