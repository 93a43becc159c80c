import { ROWS_MAX, type Spec } from "#shared/report.ts";
import type { Context } from "./context.ts";
import { isTime } from "./dimensions.ts";
import { type AggregateName, aggregateOf, MEASURE, type Measure } from "./measures.ts";

// How a statement ends: both windows of its parts side by side, in the order in which rows are shown.

const P95 = "latency_p95_ms" satisfies AggregateName;

const SIDES = [
  ["c", "current"],
  ["p", "not current"],
] as const;

/** The added parts of both windows side by side: a row for each group, and the total. */
export function cellsSql(context: Context): string {
  const columns = SIDES.flatMap(([side, which]) => {
    const sum = (name: AggregateName) => `sum(${name}) filter (where ${which})`;
    return context.names.map((name) => `${figureSql(context, name, sum)} as ${side}_${name}`);
  });
  return `
  select total, d1, d2, ${columns.join(", ")}
  from parts group by total, d1, d2`;
}

/** An aggregate of one window; the percentile of cells is still the histogram that it is computed from. */
function figureSql({ ask }: Context, name: AggregateName, sum: (name: AggregateName) => string): string {
  // Where nothing was merged, nothing was spent on merges: reviews alone cost 0, and are not of unknown cost.
  if (ask.spec.source === "outcomes" && name === "cost_usd") {
    return `case when ${sum("merged_prs")} > 0 then ${sum(name)} else 0 end`;
  }
  return sum(name);
}

/** The first rows in order, and the total. Percentiles of cells are computed for the rows that are shown. */
export function shownSql({ ask, facts, names }: Context): string {
  const isCells = facts === "cells";
  const columns = SIDES.flatMap(([side]) =>
    names.map((name) =>
      name === P95 && isCells ? `latency_p95(${side}_${name})::text as ${side}_${name}` : `${side}_${name}`,
    ),
  );
  const byP95 = isCells && ask.spec.measures[0] === P95;
  return `select total::text as is_total, d1, d2, ${columns.join(", ")}
from (
  select *, row_number() over (partition by total order by ${orderSql(ask.spec, byP95 ? P95_RANK : null)}) as place
  from cells where c_records > 0 or p_records > 0
) x where place <= ${ROWS_MAX} order by total, place`;
}

/**
 * There may be far more groups than are shown, and a percentile is dear. It lies in or below the highest bucket of its
 * histogram, which `scale` tells: so the groups whose highest bucket ends below what enough others reach are never shown.
 */
const P95_RANK = `case when scale(c_${P95}) >= coalesce((
      select scale(latency_histogram(floor(ms)::int)) from (
        select latency_p95(c_${P95}) as ms from (
          select c_${P95} from cells where not total and c_${P95} is not null
          order by scale(c_${P95}) desc limit ${2 * ROWS_MAX}
        ) highest
      ) tried order by ms desc offset ${ROWS_MAX - 1} limit 1), 0) then latency_p95(c_${P95}) end`;

/** Time ascending, else the first measure descending, then the label. */
function orderSql({ dimensions, measures }: Spec, ranked: string | null): string {
  const times = dimensions.flatMap((name, i) => (isTime(name) ? [`d${i + 1} asc`] : []));
  const [first] = measures;
  const rank = first ? [`${ranked ?? rankSql(MEASURE[first])} desc nulls last`] : [];
  return [...times, ...rank, "d1 asc", "d2 asc"].join(", ");
}

function rankSql(measure: Measure): string {
  const known = (name: AggregateName) =>
    aggregateOf(name).empty === null
      ? `c_${name}`
      : `case when c_records > 0 then ${aggregateOf(name).money ? `c_${name}` : `coalesce(c_${name}, 0)`} end`;
  switch (measure.kind) {
    case "base":
    case "share":
      return known(measure.of);
    case "per":
      return `${known(measure.of)} / nullif(c_${measure.per}, 0)`;
    case "change":
      // Nothing was 0 before; what is unknown stays so.
      return `c_${measure.of} - case when p_records > 0 then p_${measure.of} else 0 end`;
  }
}
