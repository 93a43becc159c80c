import { ROWS_MAX, type Spec } from "#shared/report.ts";
import { type AggregateName, aggregateOf } from "./aggregates.ts";
import { type Context, groupNames, groupsOf } from "./context.ts";
import { isOrdered } from "./dimensions.ts";
import { isBudget, MEASURE, type Measure } from "./measures.ts";

// How a statement ends: both windows of its parts side by side, in the order in which rows are shown.

const P95 = "latency_p95_ms" satisfies AggregateName;

const SIDES = ["c", "p"] as const;

export const addedSql = (context: Context): string => `
  select total, current, ${groupsOf(context)}, ${context.names.map((name) => `${figureSql(context, name)} as ${name}`).join(", ")}
  from parts group by total, current, ${groupsOf(context)}`;

/** An aggregate of one window; the percentile of cells is still the histogram that it is computed from. */
function figureSql({ ask }: Context, name: AggregateName): string {
  // Where nothing was merged, nothing was spent on merges: reviews alone cost 0, and are not of unknown cost.
  return ask.spec.source === "outcomes" && name === "cost_usd"
    ? `case when sum(merged_prs) > 0 then sum(${name}) else 0 end`
    : `sum(${name})`;
}

/** Where rows come by the page, the total is first: shares are of it. */
const totalOrder = ({ ask }: Context): string => (ask.allRows ? "total desc" : "total");

/** The first rows in order, and the total. Percentiles of cells are computed for the rows that are shown. */
export function shownSql(context: Context): string {
  const { facts, names } = context;
  if (facts === "records" || !names.includes(P95)) {
    return `select case when total then 'true' else 'false' end as is_total, x.* from (${firstSql(context, "cells")}\n) x order by ${totalOrder(context)}, place`;
  }
  const columns = SIDES.flatMap((side) =>
    names.map((name) =>
      name === P95 ? `latency_p95(${side}_${name})::text as ${side}_${name}` : `${side}_${name}`,
    ),
  );
  return `select total::text as is_total, ${groupsOf(context)}, ${columns.join(", ")}
from (${firstSql(context, "cells")}\n) x order by ${totalOrder(context)}, place`;
}

/** The rows of a table with both windows that are shown, by their `place`, and the total. */
export function firstSql({ ask, facts }: Context, cells: string): string {
  const { rowsMax, unpriced } = ask;
  const isUnpriced = SIDES.map(
    (side) => `${side}_billed_records > 0 and ${side}_unpriced >= ${side}_billed_records`,
  ).join(" or ");
  const too = unpriced ? ` or ${isUnpriced}` : "";
  const wanted = rowsMax === undefined ? "c_records > 0 or p_records > 0" : "total or c_records > 0";
  const first = ask.allRows ? "true" : unpriced === "alone" ? "total" : `place <= ${rowsMax ?? ROWS_MAX}`;
  const byP95 = facts === "cells" && ask.spec.measures[0] === P95;
  return `
  select * from (
    select *, row_number() over (partition by total order by ${orderSql(ask.spec, byP95 ? p95Rank(cells) : null)}) as place
    from ${cells} where ${wanted}${too}
  ) x where ${first}${too}`;
}

/** Percentiles are expensive, their bounds are not: only groups whose bound can reach the first ones are looked at. */
const p95Rank = (cells: string): string => `case when latency_p95_at_most(c_${P95}) >= coalesce((
      select ms from (
        select latency_p95(c_${P95}) as ms from (
          select c_${P95} from ${cells} where not total and c_${P95} is not null
          order by latency_p95_at_most(c_${P95}) desc limit ${2 * ROWS_MAX}
        ) highest
      ) tried order by ms desc offset ${ROWS_MAX - 1} limit 1), 0) then latency_p95(c_${P95}) end`;

/** The aggregates by which rows are ordered, beside times. */
export function rankNames({ measures: [first] }: Spec): AggregateName[] {
  if (!first) return [];
  const measure: Measure = MEASURE[first];
  if (isBudget(first)) return [];
  return measure.kind === "per" ? [measure.of, measure.per] : [measure.of];
}

/** Time and hours ascending, else the first measure descending, then the label. */
function orderSql(spec: Spec, ranked: string | null): string {
  const { dimensions, measures } = spec;
  const times = dimensions.flatMap((name, i) => (isOrdered(name) ? [`d${i + 1} asc`] : []));
  const [first] = measures;
  // Who has which budget is known after the statement (assemble.ts).
  const rank = first && !isBudget(first) ? [`${ranked ?? rankSql(MEASURE[first])} desc nulls last`] : [];
  return [...times, ...rank, ...groupNames(spec).map((name) => `${name} asc`)].join(", ");
}

function rankSql(measure: Measure): string {
  const known = (name: AggregateName) =>
    aggregateOf(name).empty === null
      ? `c_${name}`
      : `case when c_records > 0 then ${aggregateOf(name).money ? `c_${name}` : `coalesce(c_${name}, 0)`} end`;
  switch (measure.kind) {
    case "base":
    case "share":
    case "budget":
    case "used":
      return known(measure.of);
    case "per":
      return `${known(measure.of)} / nullif(c_${measure.per}, 0)`;
    case "change":
      // Nothing was 0 before; what is unknown stays so.
      return `c_${measure.of} - case when p_records > 0 then p_${measure.of} else 0 end`;
  }
}
