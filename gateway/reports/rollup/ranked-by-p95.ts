import { ROWS_MAX } from "#shared/report.ts";
import type { Context } from "./context.ts";
import { cellsAmong } from "./facts.ts";
import { histogramsOf, p95Sql } from "./histograms.ts";
import { BUCKET_CEILINGS_MS, BUCKET_NAMES } from "./sums.ts";

/** Groups whose percentile is looked at to find out how high the others' would have to be. */
const TRIED = 8 * ROWS_MAX;

const TOP = `case ${BUCKET_NAMES.map((name, i) => `when ${name} > 0 then ${i + 1}`)
  .reverse()
  .join(" ")} end`;
const CEILING = `(array[${BUCKET_CEILINGS_MS.join(",")}])[top]`;

const percentiles = (context: Context, name: string, table: string): string[] => [
  cellsAmong(context, table),
  // A group's cells and its single records have buckets in common.
  `${name}_hists as (
  select d1, d2, bucket, sum(n)::bigint as n
  from (${histogramsOf("facts", { table, rest: false }, "f.current", `${table}_cells`)}
  ) h group by d1, d2, bucket
)`,
  `${name} as (${p95Sql(`${name}_hists`, "d1, d2")}\n)`,
];

/**
 * The table `ranked`: the groups that are shown where they stand in the order of their 95th percentile. It lies in or
 * under the highest bucket of a group, which costs little to know: so that of a group whose highest bucket ends below
 * what as many groups as are shown reach need not be known.
 */
export const rankedByP95 = (context: Context): string[] => [
  `tops as materialized (
  select d1, d2, max(top) as top from (
    select d1, d2, case when current then ${TOP} end as top from facts_cells
    union all select d1, d2, case when current then bucket + 1 end from facts_buckets
  ) t group by d1, d2
)`,
  `tried as materialized (select d1, d2 from tops where top is not null order by top desc limit ${TRIED})`,
  ...percentiles(context, "tried_p95", "tried"),
  `least as (select latency_p95_ms from tried_p95 order by 1 desc nulls last offset ${ROWS_MAX - 1} limit 1)`,
  `candidates as materialized (
  select d1, d2 from tops
  where (select latency_p95_ms from least) is null or ${CEILING} >= (select latency_p95_ms from least)
)`,
  ...percentiles(context, "candidates_p95", "candidates"),
  `ranked as materialized (
  select d1, d2 from candidates left join candidates_p95 using (d1, d2)
  order by latency_p95_ms desc nulls last, d1, d2 limit ${ROWS_MAX}
)`,
];
