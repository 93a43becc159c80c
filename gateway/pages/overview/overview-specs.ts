import {
  type Compare,
  type DimensionName,
  type MeasureName,
  type QueryAnswer,
  ROWS_MAX,
  type Spec,
} from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { FILTER_NAMES, type FilterName, type FrameSearch, filtersFor, rangeOf } from "../data/search.ts";
import { SERIES_MAX } from "../parts/charts/data.ts";

export const OVERVIEW_RANGE = "mtd";

export const compareOf = ({ compare }: FrameSearch): Compare => compare ?? "previous_period";

type Ask = {
  source: "requests" | "outcomes";
  dimensions?: DimensionName[];
  measures: MeasureName[];
};

/** Totals are those of days and of repositories: each report brings its own. */
const ASKS = {
  days: {
    source: "requests",
    dimensions: ["day"],
    measures: ["cost_usd", "requests", "unpriced_requests", "users", "active_hours", "cost_decomposition"],
  },
  models: {
    source: "requests",
    dimensions: ["model"],
    measures: ["cost_usd", "unpriced_requests", "requests"],
  },
  stacked: { source: "requests", dimensions: ["day", "model"], measures: ["cost_usd"] },
  people: { source: "requests", dimensions: ["subject"], measures: ["cost_usd"] },
  mergeDays: { source: "outcomes", dimensions: ["day"], measures: ["merged_prs", "cost_per_merged_pr"] },
  repositories: {
    source: "outcomes",
    dimensions: ["repository"],
    measures: ["cost_usd", "merged_prs", "joined_prs", "cost_per_merged_pr"],
  },
} as const satisfies Record<string, Ask>;

export type OverviewPart = keyof typeof ASKS | "teams";
export type OverviewResults = Readonly<Partial<Record<OverviewPart, QueryAnswer>>>;

const dimensionsOf = (catalogue: ReportCatalogue, source: Spec["source"]): readonly DimensionName[] =>
  catalogue.sources.find(({ name }) => name === source)?.dimensions ?? [];

/** Filters of the address that pull requests cannot be narrowed by: their figures would be of everything. */
export function notOfOutcomes(search: FrameSearch, catalogue: ReportCatalogue): FilterName[] {
  const known: readonly string[] = dimensionsOf(catalogue, "outcomes");
  return FILTER_NAMES.filter((name) => search[name] !== undefined && !known.includes(name));
}

/** Everything that the page asks for in one call. */
export function overviewSpecs(
  search: FrameSearch,
  catalogue: ReportCatalogue,
): Partial<Record<OverviewPart, Spec>> {
  const withoutOutcomes = notOfOutcomes(search, catalogue).length > 0;
  const specOf = ({ source, dimensions = [], measures }: Ask): Spec => ({
    source,
    dimensions: [...dimensions],
    measures: [...measures],
    filters: filtersFor(search, dimensionsOf(catalogue, source)),
    range: rangeOf(search, OVERVIEW_RANGE),
    // The stacks of the period before are not drawn.
    compare: dimensions.length > 1 ? "none" : compareOf(search),
    view: "table",
  });
  const asked = Object.entries<Ask>(ASKS).filter(
    ([, { source }]) => source === "requests" || !withoutOutcomes,
  );
  const specs = Object.fromEntries(asked.map(([part, ask]) => [part, specOf(ask)]));
  const teams: readonly DimensionName[] = dimensionsOf(catalogue, "requests").filter(
    (name) => `${name}` === "team",
  );
  return teams.length === 0
    ? specs
    : {
        ...specs,
        teams: specOf({ source: "requests", dimensions: [...teams], measures: ["cost_usd", "users"] }),
      };
}

/** Spend by day of the costliest models alone, where all models have more rows than a report. */
export function stackedSpec(
  search: FrameSearch,
  catalogue: ReportCatalogue,
  { stacked, models }: OverviewResults,
): Spec | null {
  if ((stacked?.rows.length ?? 0) < ROWS_MAX) return null;
  const names = models?.rows.filter(({ current }) => current !== null).map(({ groups: [name = ""] }) => name);
  if (!names || names.length === 0) return null;
  return {
    source: "requests",
    dimensions: ["day", "model"],
    measures: ["cost_usd"],
    filters: {
      ...filtersFor(search, dimensionsOf(catalogue, "requests")),
      model: names.slice(0, SERIES_MAX),
    },
    range: rangeOf(search, OVERVIEW_RANGE),
    compare: "none",
    view: "stacked",
  };
}
