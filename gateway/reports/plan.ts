import { type DimensionName, type MeasureName, ROWS_MAX, type Spec } from "#shared/report.ts";
import { DIMENSION, filterSql, isTime, TAGS } from "./dimensions.ts";
import { AGGREGATES, aggregatesOf, FLOOR_SQL, MEASURE, type Measure } from "./measures.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";
import { RELATIONS, rolledOutcomes } from "./relations.ts";
import type { Survey } from "./rollup/cover.ts";
import { sessionParts } from "./rollup/spans.ts";
import { sourceOf } from "./sources.ts";
import { asksForLane, filtersOf } from "./spec.ts";
import type { Period, Periods } from "./window.ts";

/**
 * What is asked of the records: a checked spec, its periods, (outcomes) the pull requests that are reverted, and how far
 * rollups reach; null: they are not used.
 */
export type Ask = {
  orgId: string;
  spec: Spec;
  periods: Periods;
  reverted: readonly string[];
  survey: Survey | null;
};

/**
 * The queries of one report. `cells` of `rows` and of `total` have the columns `d1`, `d2`, and for each window
 * (`c_` current, `p_` previous) `…found`, `…floor` and the aggregates, as text. `rows` is null without dimensions:
 * the total says it all then.
 */
export type Plan = { rows: Query | null; total: Query; coverage: Query | null };

/** Reads the single records, but for those of sessions (outcomes). rollup/plan.ts answers the same columns from rollups. */
export function planReport(ask: Ask): Plan {
  const { spec } = ask;
  return {
    rows: spec.dimensions.length > 0 ? cellsQuery(ask, spec.dimensions) : null,
    total: cellsQuery(ask, []),
    coverage: coverageQuery(ask),
  };
}

/** The rows of `group_cells` in the order in which they are shown, and the one of `total_cells`, told apart by `total`. */
export function shownSql(dimensions: readonly DimensionName[], measures: readonly MeasureName[]): string {
  const part = (total: boolean, groups: readonly DimensionName[], cells: string) => `
  select ${total} as total, row_number() over () as place, x.* from (
${comparedSql(groups, measures, cells)}
  ) x`;
  const rows = dimensions.length > 0 ? [part(false, dimensions, "group_cells")] : [];
  return [...rows, part(true, [], "total_cells")].join("\n  union all");
}

/** The aggregates by group, both windows side by side, in the order in which rows are shown. */
function cellsQuery(ask: Ask, dimensions: readonly DimensionName[]): Query {
  const params = parameters();
  const facts = factsSql(ask, params, { dimensions, filters: filtersOf(ask.spec.filters) });
  const aggregates = aggregatesOf(ask.spec.measures).map((name) => `${AGGREGATES[name].sql} as ${name}`);
  const text = `with ${facts},
cells as (
  select current, d1, d2, ${[...aggregates, `${FLOOR_SQL} as floor`].join(",\n    ")}
  from facts group by current, d1, d2
)
${comparedSql(dimensions, ask.spec.measures)}`;
  return { text, params: params.values };
}

/** Both windows of `cells` side by side: a row for each group, with `floor` and the aggregates of the measures. */
function comparedSql(
  dimensions: readonly DimensionName[],
  measures: readonly MeasureName[],
  cells = "cells",
): string {
  const sides = (["c", "p"] as const).flatMap((side) => [
    [`${side}_found`, `${side}.d1 is not null`],
    ...["floor", ...aggregatesOf(measures)].map((name) => [`${side}_${name}`, `${side}.${name}`]),
  ]);
  // Texts are made of the rows that are shown alone.
  return `select g.d1, g.d2, ${sides.map(([name]) => `g.${name}::text as ${name}`).join(", ")}
from (
  select coalesce(c.d1, p.d1) as d1, coalesce(c.d2, p.d2) as d2, ${sides.map(([name, sql]) => `${sql} as ${name}`).join(", ")}
  from (select * from ${cells} where current) c
  full join (select * from ${cells} where not current) p on c.d1 = p.d1 and c.d2 = p.d2
  order by ${orderSql(dimensions, measures)}
  limit ${ROWS_MAX}
) g`;
}

/** Time ascending, else the first measure descending, then the label. */
function orderSql(dimensions: readonly DimensionName[], measures: readonly MeasureName[]): string {
  const times = dimensions.flatMap((name, i) => (isTime(name) ? [`${i + 1} asc`] : []));
  const [first] = measures;
  const rank = first ? [`${rankSql(MEASURE[first])} desc nulls last`] : [];
  return [...times, ...rank, "1 asc", "2 asc"].join(", ");
}

function rankSql(measure: Measure): string {
  switch (measure.kind) {
    case "base":
    case "share":
      return `c.${measure.of}`;
    case "per":
      return `c.${measure.of}::numeric / nullif(c.${measure.per}, 0)`;
    case "change":
      // Nothing was 0 before; what is unknown stays so.
      return `c.${measure.of} - case when p.d1 is null then 0 else p.${measure.of} end`;
  }
}

type Cut = { dimensions: readonly DimensionName[]; filters: readonly (readonly [DimensionName, string[]])[] };

/** The records of both windows that pass the filters, one row per group that a record belongs to. */
function factsSql(ask: Ask, params: Parameters, cut: Cut): string {
  const shared = sharedSql(ask, params, cut);
  if (ask.spec.source !== "outcomes") return `facts as ${shared}`;
  const facts = outcomesSql(params.add(ask.reverted, "text[]"), ["current", "d1", "d2"]);
  return `shared as ${shared},
facts as ${facts}`;
}

/** The records of both windows that pass the filters; of outcomes without what they cost. */
export function sharedSql(ask: Ask, params: Parameters, { dimensions, filters }: Cut): string {
  const { spec, periods } = ask;
  const [d1 = "''", d2 = "''"] = dimensions.map((name) => DIMENSION[name].sql);
  const current = withinSql(periods.current, params);
  const within = periods.previous ? `(${current} or ${withinSql(periods.previous, params)})` : current;
  const conditions = [
    `r.org_id = ${params.add(ask.orgId, "text")}`,
    within,
    ...filters.map(([name, values]) => filterSql(name, params.add(values, "text[]"))),
  ];
  const tags = `\n  cross join lateral (select distinct unnest(${TAGS}) as tag) t`;
  return `(
  select r.*, ${asksForLane(spec) ? "true" : "r.metered"} as billed, ${current} as current,
    (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2
  from ${relationOf(ask, params, within)} r
  left join keys k on k.org_id = r.org_id and k.id = r.key_id${dimensions.includes("tag") ? tags : ""}
  where ${conditions.join("\n    and ")}
)`;
}

/** `within`: of which instants `r.started_at` rows are wanted. */
function relationOf({ orgId, spec, survey }: Ask, params: Parameters, within: string): string {
  if (spec.source !== "outcomes" || !survey) return RELATIONS[spec.source];
  return rolledOutcomes(
    sessionParts(orgId, survey, params),
    within.replaceAll("r.started_at", "o.started_at"),
  );
}

/**
 * A session's cost stands with one of its pull requests per group and window, so that it is counted once. Where nothing
 * was merged, nothing was spent on merges: reviews alone cost 0, and are not of unknown cost.
 */
const outcomesSql = (reverted: string, groups: readonly string[]): string => `(
  select *, pull_request = any(${reverted}) as reverted,
    case
      when count(pull_request) over (partition by ${groups.join(", ")}) = 0 then 0
      when row_number() over (partition by ${[...groups, "run"].join(", ")} order by pull_request) = 1
        and run is not null then session_cost_usd
    end as cost_usd
  from shared
)`;

function withinSql({ fromMs, toMs }: Period, params: Parameters): string {
  const to = `r.started_at < ${params.instant(toMs)}`;
  return fromMs === null ? to : `(r.started_at >= ${params.instant(fromMs)} and ${to})`;
}

/** The optional labels that a spec asks for. */
export function lateLabels({ source, dimensions, filters }: Spec): DimensionName[] {
  const { labels } = sourceOf(source);
  const asked = [...dimensions, ...filtersOf(filters).map(([name]) => name)];
  return [...new Set(asked)].filter((name) => labels[name] !== undefined);
}

/**
 * Since when the optional labels asked for are recorded, and how many records of each window are older. Labels
 * that were recorded from the start give no row.
 */
function coverageQuery(ask: Ask): Query | null {
  const { labels } = sourceOf(ask.spec.source);
  const filters = filtersOf(ask.spec.filters);
  const late = lateLabels(ask.spec);
  if (late.length === 0) return null;
  const params = parameters();
  const firsts = late.map((name) => `min(r.started_at) filter (where ${labels[name]})`);
  const facts = factsSql(ask, params, {
    dimensions: [],
    filters: filters.filter(([name]) => !late.includes(name)),
  });
  const text = `with ${facts},
since as (
  select case when num_nulls(${firsts.join(", ")}) = 0 then greatest(${firsts.join(", ")}) end as label,
    min(r.started_at) as record
  from ${relationOf(ask, params, "true")} r where r.org_id = ${params.add(ask.orgId, "text")}
)
select (extract(epoch from s.label) * 1000)::bigint::text as since_ms,
  count(distinct f.record) filter (where f.current)::text as rows_before,
  count(distinct f.record) filter (where not f.current)::text as previous_rows_before
from since s
left join facts f on s.label is null or f.started_at < s.label
where s.label is distinct from s.record
group by s.label`;
  return { text, params: params.values };
}
