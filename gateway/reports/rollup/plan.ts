import type { DimensionName } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, aggregatesOf } from "../measures.ts";
import { parameters, type Query } from "../parameters.ts";
import { type Ask, comparedSql } from "../plan.ts";
import { filtersOf } from "../spec.ts";
import type { Period } from "../window.ts";
import { type Context, ENTITY_NAMES, isAsked, isTimely } from "./context.ts";
import { coverOf, type Survey } from "./cover.ts";
import { factsSql } from "./facts.ts";
import { isKind, type Kind } from "./kinds.ts";
import { daySpansOf, partsOf } from "./parts.ts";
import { BUCKET_NAMES, p95Sql } from "./sums.ts";

/** A report of source `requests` over rollups, with the columns of a plan over single records; `coverage` apart. */
export function planRolled(ask: Ask, survey: Survey): { rows: Query | null; total: Query } {
  const { dimensions } = ask.spec;
  return {
    rows: dimensions.length > 0 ? cellsQuery(ask, survey, dimensions) : null,
    total: cellsQuery(ask, survey, []),
  };
}

function cellsQuery(ask: Ask, survey: Survey, dimensions: readonly DimensionName[]): Query {
  const names = aggregatesOf(ask.spec.measures);
  const kind = kindOf(ask, dimensions, names);
  const cover = (period: Period) => coverOf(period, survey, kind !== null);
  const { current, previous } = ask.periods;
  const buckets = names.includes("latency_p95_ms") ? BUCKET_NAMES : [];
  // What tells whether a group is there, and whether its money is known, is always summed.
  const summed = new Set<string>(["records", "uncertain", ...names, ...buckets]);
  summed.delete("latency_p95_ms");
  const context: Context = {
    ask,
    dimensions,
    params: parameters(),
    kind,
    covers: { current: cover(current), previous: previous && cover(previous) },
    columns: [...summed],
    names,
    buckets,
  };
  // There may be far more groups than rows are shown: their percentiles wait, but where the order needs them.
  const late = ask.spec.measures[0] === "latency_p95_ms" ? [] : buckets;
  const compared = comparedSql(dimensions, ask.spec.measures, late);
  const facts = factsSql(context);
  const parts = partsOf(context);
  // Beside whole days there are few facts, worth reading once; without, each part reads but its own columns of many.
  const reading = daySpansOf(context.covers).length > 0 ? "materialized" : "not materialized";
  const text = `with facts as ${reading} (${facts}),
parts as (${parts.join("\n  union all\n")}
),
sums as (
  select current, d1, d2, ${context.columns.map((name) => `sum(${name}) as ${name}`).join(", ")}
  from parts group by current, d1, d2
),
cells as (
  select current, d1, d2, ${[...names.map((name) => `${finalSql(name, late)} as ${name}`), ...late].join(", ")},
    coalesce(uncertain, 0) > 0 as floor
  from sums s where records > 0
)
${late.length > 0 ? withPercentile(compared, names) : compared}`;
  return { text, params: context.params.values };
}

function finalSql(name: AggregateName, late: readonly string[]): string {
  if (name === "latency_p95_ms") return late.length > 0 ? "null" : p95Sql("s.");
  return AGGREGATES[name].money ? name : `coalesce(${name}, 0)`;
}

/** Fills in the percentiles of the rows that are shown. */
function withPercentile(compared: string, names: readonly AggregateName[]): string {
  const columns = (["c", "p"] as const).flatMap((side) => [
    `x.${side}_found, x.${side}_floor`,
    ...names.map((name) =>
      name === "latency_p95_ms" ? `${p95Sql(`x.${side}_`)}::text as ${side}_${name}` : `x.${side}_${name}`,
    ),
  ]);
  return `select x.d1, x.d2, ${columns.join(", ")} from (
${compared}
) x`;
}

/**
 * The kind of whole days that answers: the one dimension asked for beside times, or all in all. Filters choose hours;
 * but one by channel may choose days, where nothing is counted distinctly.
 */
function kindOf(
  { spec }: Ask,
  dimensions: readonly DimensionName[],
  names: readonly AggregateName[],
): Kind | null {
  const [kind = "total", ...others] = new Set(dimensions.filter((name) => !isTimely(name)));
  if (others.length > 0 || !isKind(kind)) return null;
  const filters = filtersOf(spec.filters).map(([name]) => name);
  if (filters.length === 0) return kind;
  const distinct = ENTITY_NAMES.some((entity) => isAsked(entity, names));
  return filters.every((name) => name === "channel") && !distinct ? kind : null;
}
