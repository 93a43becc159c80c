import { type Context, type Section, sectionsOf } from "./context.ts";
import { sumHistograms } from "./one-dimension.ts";
import { BUCKET_CEILINGS_MS, BUCKET_FLOORS_MS, BUCKET_NAMES } from "./sums.ts";

const GROUP = "total, current, d1, d2";
const HIST_GROUPS = "select * from hist_groups where d1 is not null";
const summed = `array[${BUCKET_NAMES.map((name) => `sum(${name})`).join(",")}]::bigint[] as counts`;
const list = (values: readonly number[]) => `(array[${values.join(",")}])[bucket]`;

/**
 * The tables `hist_groups`, `hists` and `percentiles`: the 95th percentile of latency by section, window and group.
 * `places` are the facts of the groups and of the total, and `cells` the histograms of those that are wanted; `chosen` the table of the groups that are wanted: `group_shown`,
 * `ranked`, or null for all of them.
 */
export function percentilesSql(
  context: Context,
  places: { groups: string; total: string; cells?: string },
  chosen: "group_shown" | "ranked" | null,
): string[] {
  const sections = sectionsOf(context);
  const hasGroups = sections.length > 1;
  // Each record is in one group: then all of them together are all there are.
  const shared = hasGroups && places.total === places.groups;
  const all = (hists: string) => `select current, '' as d1, '' as d2, bucket, n from ${hists}`;
  const sums = sections.filter(({ total }) => !(total && shared)).map((section) => sumsOf(context, section));
  const parts = sections.flatMap(({ total }, i) => {
    const facts = total ? (shared ? all("hist_groups") : histogramsOf(places.total, "none")) : HIST_GROUPS;
    const own = total && shared ? [all("hist_sums_0")] : [`select * from hist_sums_${i}`];
    return [facts, ...(sums[0] ? own : [])].map((rows) => `select ${total} as total, h.* from (${rows}) h`);
  });
  const groups = chosen === null ? "all" : { table: chosen, rest: places.total === places.groups };
  const isChosen = `exists (select from ${chosen} s where s.d1 = h.d1 and s.d2 = h.d2)`;
  return [
    ...(hasGroups
      ? [`hist_groups as materialized (${histogramsOf(places.groups, groups, "true", places.cells)}\n)`]
      : []),
    ...sums.flatMap((sql, i) => (sql ? [`hist_sums_${i} as (${sql}\n)`] : [])),
    `hists as (
  select ${GROUP}, bucket, sum(n)::bigint as n from (
  ${parts.join("\n  union all ")}
  ) h${chosen === null ? "" : ` where total or ${isChosen}`} group by ${GROUP}, bucket
)`,
    `percentiles as (${p95Sql("hists", GROUP)}
)`,
  ];
}

/**
 * Linear between the two nearest ranks, as where it is taken of single records, and each of these ranks linear within its
 * bucket. A rank's true value lies in the same bucket, so the result is off by less than 2^¼ − 1 = 18.9 %, and by less
 * than 10 ms below 10 ms. Over 70 minutes it reads as at most that.
 */
export const p95Sql = (hists: string, group: string): string => `
  select ${group}, sum(
      case when place >= before and place < before + n then (1 - weight) * (floor + (ceiling - floor) * (place - before + 0.5) / n) else 0 end
      + case when weight > 0 and place + 1 >= before and place + 1 < before + n
        then weight * (floor + (ceiling - floor) * (place + 1 - before + 0.5) / n) else 0 end) as latency_p95_ms
  from (
    select ${group}, n, upto - n as before, twentieths / 20 as place, (twentieths % 20) / 20.0::float8 as weight,
      ${list(BUCKET_FLOORS_MS)} as floor, ${list(BUCKET_CEILINGS_MS)} as ceiling
    from (
      select ${group}, bucket, n, (sum(n) over (w order by bucket))::bigint as upto, 19 * ((sum(n) over w)::bigint - 1) as twentieths
      from ${hists} window w as (partition by ${group})
    ) counted
  ) placed group by ${group}`;

/** All in one, each group, or those of a table, where the `rest` is one without a name, or left out. */
type By = "none" | "all" | { table: string; rest: boolean };

/** Cells bring histograms, and single records their buckets; the first bucket is 1. */
export function histogramsOf(facts: string, by: By, where = "true", cells = `${facts}_cells`): string {
  const group = (name: string) => (by === "none" ? "''::text" : by === "all" ? `f.${name}` : `g.${name}`);
  const join =
    typeof by === "string"
      ? ""
      : `${by.rest ? " left" : ""} join (select d1, d2 from ${by.table}) g on f.d1 = g.d1 and f.d2 = g.d2`;
  const [d1, d2] = [group("d1"), group("d2")];
  const groups = `f.current, ${d1} as d1, ${d2} as d2`;
  return `
  select current, d1, d2, bucket::int, n from (
    select ${groups}, ${summed} from ${cells} f${join} where ${where} group by 1, 2, 3
  ) c ${UNNESTED}
  union all
  select ${groups}, f.bucket + 1, sum(n) from ${facts}_buckets f${join} where ${where} group by 1, 2, 3, 4`;
}

const UNNESTED = "cross join lateral unnest(counts) with ordinality as b(n, bucket) where n > 0";

/** Null where none are read. */
const sumsOf = (context: Context, section: Section): string | null =>
  sumHistograms(context, section)
    .map(
      (side) => `
  select current, d1, d2, bucket::int, n from (
    select current, d1, d2, ${summed} from ${side} group by current, d1, d2
  ) c ${UNNESTED}`,
    )
    .join("\n  union all ") || null;
