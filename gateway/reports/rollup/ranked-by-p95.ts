import { ROWS_MAX } from "#shared/report.ts";
import type { Context } from "./context.ts";
import { CANDIDATES, factsSql } from "./facts.ts";
import { ceilingOf, p95Sql, topOf } from "./latencies.ts";

/** Groups whose percentile is looked at to find out how high the others' would have to be. */
const TRIED = 2 * ROWS_MAX;

/** The percentiles of the groups that another table chooses. */
const percentiles = (context: Context, chosen: string): string => `
  select d1, d2, ${p95Sql("latencies::text")} as latency_p95_ms from (
    select f.d1, f.d2, sum(f.latencies) as latencies
    from (${factsSql(context, context.dimensions, context.kind, chosen)}
    ) f where f.current and (f.d1, f.d2) in (select d1, d2 from ${chosen}) group by 1, 2
  ) g`;

/**
 * The table `ranked`: the groups that are shown where they stand in the order of their 95th percentile. It lies in or
 * under the highest bucket of a group, which costs little to know: so that of a group whose highest bucket ends below
 * what as many groups as are shown reach need not be known.
 */
export const rankedByP95 = (context: Context): string[] => {
  const own = { ...context, entities: [], columns: ["latencies"] };
  return [
    `tops as materialized (
  select d1, d2, max(${topOf("latencies")}) filter (where current) as top from ranking group by d1, d2
)`,
    `tried as materialized (select d1, d2 from tops where top is not null order by top desc limit ${TRIED})`,
    `tried_p95 as materialized (${percentiles(own, "tried")}\n)`,
    `least as (select latency_p95_ms from tried_p95 order by 1 desc nulls last offset ${ROWS_MAX - 1} limit 1)`,
    `${CANDIDATES} as materialized (
  select d1, d2 from tops
  where (select latency_p95_ms from least) is null or ${ceilingOf("top")} >= (select latency_p95_ms from least)
)`,
    `${CANDIDATES}_p95 as materialized (${percentiles(own, CANDIDATES)}\n)`,
    `ranked as materialized (
  select d1, d2 from ${CANDIDATES} left join ${CANDIDATES}_p95 using (d1, d2)
  order by latency_p95_ms desc nulls last, d1, d2 limit ${ROWS_MAX}
)`,
  ];
};
