import type { DimensionName, MeasureName, SourceName, Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import {
  compareIn,
  defined,
  FILTER_NAMES,
  type FrameSearch,
  filtersFor,
  frameSearch,
  oneNameOf,
  oneText,
  rangeOf,
  someTexts,
  texts,
} from "./search.ts";

export const VIEWS = ["table", "bar", "line", "stacked", "waterfall"] as const;
export const SOURCES = ["requests", "tool_calls", "agent_metrics", "outcomes"] as const;

/** A whole report in an address. */
export type SpecSearch = FrameSearch & {
  source?: SourceName;
  by?: string[];
  measure?: string[];
  view?: Spec["view"];
  /** A day: the figures as they were known when it began (UTC). */
  as_of?: string;
};

type SpecChange = Partial<{ [K in keyof SpecSearch]: SpecSearch[K] | undefined }>;
export type ChangeSpec = (change: SpecChange) => void;

export const EXPLORE_RANGE = "30d";

export const specSearch = (raw: Record<string, unknown>): SpecSearch =>
  defined<SpecSearch>({
    ...frameSearch(raw),
    source: oneNameOf(SOURCES, raw["source"]),
    // `none` says "by nothing"; no text at all is the default.
    by: raw["by"] === undefined ? undefined : texts(raw["by"]),
    measure: someTexts(raw["measure"]),
    view: oneNameOf(VIEWS, raw["view"]),
    as_of: oneText(raw["as_of"]),
  });

export const sourceIn = (catalogue: ReportCatalogue, name: SourceName) =>
  catalogue.sources.find((source) => source.name === name);

/** The question put to another source, without what that lacks. */
export function inSource(
  search: SpecSearch,
  source: ReportCatalogue["sources"][number] | undefined,
): SpecChange {
  const { dimensions = [], measures = [] } = source ?? {};
  const by = (search.by ?? []).filter((name) => name === "none" || dimensions.some((it) => it === name));
  const measure = known(search.measure ?? [], measures);
  return {
    ...Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])),
    ...filtersFor(search, dimensions),
    source: source?.name,
    by: by.length > 0 ? by : undefined,
    measure: measure.length > 0 ? measure : undefined,
  };
}

/** The question of an address that was found askable; what it does not name has its default. */
export function specOf(search: SpecSearch, catalogue: ReportCatalogue): Spec {
  const source = search.source ?? "requests";
  const legal = sourceIn(catalogue, source);
  const dimensions = known(search.by ?? ["day"], legal?.dimensions ?? []);
  const measures = known(search.measure ?? [], legal?.measures ?? []);
  const first = legal?.measures.find((name) => name === "cost_usd") ?? legal?.measures[0] ?? "requests";
  const spec: Spec = {
    source,
    dimensions,
    measures: measures.length > 0 ? measures : [first],
    filters: filtersFor(search, legal?.dimensions ?? []),
    range: rangeOf(search, EXPLORE_RANGE),
    compare: compareIn(search, "none"),
    view: search.view ?? "stacked",
  };
  return { ...spec, view: viewsOf(spec).find((view) => view === spec.view) ?? defaultView(spec) };
}

const known = <T extends DimensionName | MeasureName>(asked: readonly string[], legal: readonly T[]): T[] =>
  asked.flatMap((name) => legal.find((it) => it === name) ?? []);

const isTime = (name: DimensionName | undefined) => name === "day" || name === "week" || name === "month";

/** The views that can show a report. */
export function viewsOf({ source, dimensions, measures, compare }: Spec): Spec["view"][] {
  const [first] = dimensions;
  return [
    "table",
    ...(first ? (["bar"] as const) : []),
    ...(isTime(first) ? (["line"] as const) : []),
    ...(isTime(first) && dimensions.length === 2 ? (["stacked"] as const) : []),
    ...(source === "requests" && measures.includes("cost_decomposition") && compare === "previous_period"
      ? (["waterfall"] as const)
      : []),
  ];
}

const defaultView = (spec: Spec): Spec["view"] => viewsOf(spec).at(-1) ?? "table";

/** A report as an address of the explorer. */
export function searchOfSpec(spec: Spec): Record<string, string | string[]> {
  const { range } = spec;
  const times =
    typeof range === "string"
      ? { range }
      : { ...(range.from && { from: range.from }), ...(range.to && { to: range.to }) };
  return {
    source: spec.source,
    by: spec.dimensions.length > 0 ? [...spec.dimensions] : "none",
    measure: [...spec.measures],
    view: spec.view,
    compare: spec.compare,
    ...times,
    ...Object.fromEntries(
      FILTER_NAMES.flatMap((name) => {
        const values = (spec.filters as Readonly<Record<string, string[] | undefined>>)[name];
        return values ? [[name, values]] : [];
      }),
    ),
  };
}
