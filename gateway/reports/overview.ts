import type { OverviewFrame, OverviewPart } from "#shared/overview.ts";
import type { DimensionName, Filters, MeasureName, Result, Spec } from "#shared/report.ts";
import type { HowAsked } from "./context.ts";
import { forcedTeam, type TeamScope } from "./forced-team.ts";
import { sourceOf } from "./sources.ts";
import { checkSpec, filtersOf } from "./spec.ts";

/** How many groups the lists of the Overview show. */
const SHOWN_MAX = 8;
/** Models that the chart stacks; where there is one more it is stacked too, else the rest are drawn as others. */
const STACKED_MAX = 7;

type Part = {
  source: "requests" | "outcomes";
  dimensions: readonly DimensionName[];
  measures: readonly MeasureName[];
} & HowAsked;

/** The reports of the Overview, with what it shows of them and no more; totals are those of days and of repositories. */
const PARTS = {
  days: {
    source: "requests",
    dimensions: ["day"],
    measures: ["cost_usd", "requests", "unpriced_requests", "users", "active_hours", "cost_decomposition"],
  },
  models: { source: "requests", dimensions: ["model"], measures: ["cost_usd", "unpriced_requests"] },
  // Their sums also say whether anybody made calls of unknown cost alone, which the decomposition has to know.
  people: {
    source: "requests",
    dimensions: ["subject"],
    measures: ["cost_usd"],
    rowsMax: SHOWN_MAX,
    unpriced: "too",
  },
  teams: { source: "requests", dimensions: ["team"], measures: ["cost_usd"], rowsMax: SHOWN_MAX },
  team_merges: {
    source: "outcomes",
    dimensions: ["team"],
    measures: ["merged_prs", "cost_per_merged_pr"],
    withoutReviews: true,
  },
  merge_days: {
    source: "outcomes",
    dimensions: ["day"],
    measures: ["merged_prs", "cost_per_merged_pr"],
    withoutReviews: true,
  },
  repositories: {
    source: "outcomes",
    dimensions: ["repository"],
    measures: ["cost_usd", "merged_prs", "joined_prs", "cost_per_merged_pr"],
    withoutReviews: true,
  },
} as const satisfies Partial<Record<OverviewPart, Part>>;

/** A checked spec, and what else is asked of it. `name`: which part of the Overview it is. */
export type NamedSpec = { name?: OverviewPart; spec: Spec } & HowAsked;

const filtersIn = (filters: Filters, source: Spec["source"]): Filters =>
  Object.fromEntries(filtersOf(filters).filter(([name]) => sourceOf(source).dimensions.includes(name)));

/** Filters that pull requests cannot be narrowed by: their figures would be of everything. */
export const notOfMerges = (filters: Filters): DimensionName[] =>
  filtersOf(filters).flatMap(([name, { length }]) =>
    length === 0 || sourceOf("outcomes").dimensions.includes(name) ? [] : [name],
  );

/**
 * The reports of the Overview; without those of pull requests where a filter does not apply to them.
 * @throws GatewayError invalid_request for an impossible frame; role_not_allowed for a team outside the scope.
 */
export function overviewSpecs(frame: OverviewFrame, scope: TeamScope | null): NamedSpec[] {
  const withMerges = notOfMerges(frame.filters).length === 0;
  return Object.entries<Part>(PARTS).flatMap(([name, { source, dimensions, measures, ...how }]) => {
    if (source === "outcomes" && !withMerges) return [];
    const spec = checkSpec({
      ...frame,
      source,
      dimensions: [...dimensions],
      measures: [...measures],
      filters: filtersIn(frame.filters, source),
      view: "table",
    });
    // The keys of the table are the names of parts.
    return [
      { name: name as OverviewPart, spec: forcedTeam(spec, scope), withoutCoverage: true as const, ...how },
    ];
  });
}

/** Spend by day of the costliest models, as the report of all models ranks them. */
export function stackedReport(models: Pick<Result, "spec" | "rows"> | undefined): NamedSpec[] {
  const names = (models?.rows ?? []).flatMap(({ groups, current }) => (current ? groups : []));
  if (!models || names.length === 0) return [];
  const model = names.length > STACKED_MAX + 1 ? names.slice(0, STACKED_MAX) : names;
  const spec: Spec = {
    ...models.spec,
    dimensions: ["day", "model"],
    measures: ["cost_usd"],
    filters: { ...models.spec.filters, model },
    compare: "none",
    view: "stacked",
  };
  return [{ name: "stacked", spec, withoutCoverage: true }];
}

/** Results by the names of their reports; one without a report is the stacked one. */
export const overviewParts = <T>(
  reports: readonly NamedSpec[],
  results: readonly T[],
): Partial<Record<OverviewPart, T>> =>
  Object.fromEntries(results.map((result, i) => [reports[i]?.name ?? "stacked", result]));
