import type { DimensionName, MeasureName, Result, Row, Unit } from "#shared/report.ts";
import { instantOfDay, localMs } from "#shared/time-zone.ts";
import { isIncomplete, isTimeDimension, timeGroups } from "../dates.ts";

type Series = {
  /** The group's own text, by which it is filtered; null: the others. */
  name: string | null;
  color: string;
  values: readonly (number | null)[];
};

/** Figures over groups of one dimension, ready to be drawn. */
export type ChartData = {
  dimension: DimensionName;
  unit: Unit;
  groups: readonly string[];
  series: readonly Series[];
  /** Totals of the period before, by the same places; null: no comparison. */
  previous: readonly (number | null)[] | null;
  /** Places whose period is not over. */
  incomplete: readonly boolean[];
};

/** What every chart takes: its data, its title for those who do not see it, and what a series is called. */
export type ChartProps = {
  data: ChartData;
  title: string;
  label: (name: string | null) => string;
  /** Narrows the page to a group. */
  choose?: ((group: string) => void) | undefined;
};

/** Distinguishable with colour blindness, in light and dark; the last one is for the others. */
const SERIES_MAX = 7;
const seriesColor = (i: number): string => `var(--s${(i % SERIES_MAX) + 1})`;
const OTHERS_COLOR = "var(--s8)";

/** A report, with the zone of its days; absent: UTC. */
type Zoned = Result & { time_zone?: string };
type Ask = { result: Zoned; measure: MeasureName; unit: Unit };
type Side = "current" | "previous";

/** Only sums may be stacked and begin at zero; a mean or a share is a line. */
export const isAdditive = (measure: MeasureName): boolean => !/avg|p95|per_|share|rate|median/.test(measure);

/** Over no records a sum is 0, and all else has no figure. */
function figure(row: Row | undefined, side: Side, measure: MeasureName): number | null {
  const figures = row?.[side];
  return figures ? (figures[measure] ?? null) : isAdditive(measure) ? 0 : null;
}

/** Groups of the first dimension as x, in the order of time, or of the answer if it is not a time. */
function groupsOf({ spec, window, rows, time_zone: zone = "UTC" }: Zoned, nowMs: number): string[] {
  const [dimension] = spec.dimensions;
  if (!dimension) return [];
  const named = rows.flatMap((row) => (row.current && row.groups[0] !== undefined ? [row.groups[0]] : []));
  if (!isTimeDimension(dimension)) return [...new Set(named)];
  const first = window.from ?? named.toSorted()[0];
  if (first === undefined) return [];
  const toMs = window.to === null ? nowMs : Date.parse(window.to);
  // The first group is a day of the zone, and not an instant.
  const fromMs = window.from === null ? instantOfDay(Date.parse(first), zone) : Date.parse(first);
  return timeGroups(dimension, { fromMs, toMs, zone });
}

/** The totals of the period before at the places of this one. */
function previousOf({ result, measure }: Ask, groups: readonly string[]): (number | null)[] | null {
  const { spec, previousWindow, rows, time_zone: zone = "UTC" } = result;
  const [dimension] = spec.dimensions;
  if (!previousWindow?.from || !previousWindow.to || !dimension || spec.dimensions.length > 1) return null;
  const byGroup = new Map(rows.map((row) => [row.groups[0], row]));
  const places = isTimeDimension(dimension)
    ? timeGroups(dimension, {
        fromMs: Date.parse(previousWindow.from),
        toMs: Date.parse(previousWindow.to),
        zone,
      })
    : groups;
  return groups.map((_, i) => {
    const place = places[i];
    return place === undefined ? null : figure(byGroup.get(place), "previous", measure);
  });
}

export function singleSeries(ask: Ask, nowMs = Date.now()): ChartData {
  const { result, measure, unit } = ask;
  const dimension = result.spec.dimensions[0] ?? "day";
  const groups = groupsOf(result, nowMs);
  const byGroup = new Map(result.rows.map((row) => [row.groups[0], row]));
  const values = groups.map((group) => figure(byGroup.get(group), "current", measure));
  return {
    dimension,
    unit,
    groups,
    series: [{ name: measure, color: seriesColor(0), values }],
    previous: previousOf(ask, groups),
    incomplete: incompleteIn(dimension, groups, localMs(nowMs, result.time_zone ?? "UTC")),
  };
}

/** One measure over two dimensions: the second one's largest groups as series, and the others together. */
export function stackedSeries(ask: Ask, nowMs = Date.now()): ChartData {
  const { result, measure, unit } = ask;
  const dimension = result.spec.dimensions[0] ?? "day";
  const groups = groupsOf(result, nowMs);
  const cells = new Map<string, Map<string, number>>();
  for (const {
    groups: [x = "", name = ""],
    current,
  } of result.rows) {
    const value = current?.[measure];
    if (typeof value !== "number") continue;
    const line = cells.get(name) ?? new Map<string, number>();
    cells.set(name, line.set(x, value));
  }
  const sum = (line: Map<string, number>) => [...line.values()].reduce((a, b) => a + b, 0);
  const ranked = [...cells].toSorted(([, a], [, b]) => sum(b) - sum(a));
  const shown = ranked.length > SERIES_MAX + 1 ? ranked.slice(0, SERIES_MAX) : ranked;
  const others = ranked.slice(shown.length);
  const series: Series[] = shown.map(([name, line], i) => ({
    name,
    color: i < SERIES_MAX ? seriesColor(i) : OTHERS_COLOR,
    values: groups.map((group) => line.get(group) ?? (isAdditive(measure) ? 0 : null)),
  }));
  if (others.length > 0) {
    const values = groups.map((group) =>
      others.reduce((total, [, line]) => total + (line.get(group) ?? 0), 0),
    );
    series.push({ name: null, color: OTHERS_COLOR, values });
  }
  return {
    dimension,
    unit,
    groups,
    series,
    previous: null,
    incomplete: incompleteIn(dimension, groups, localMs(nowMs, result.time_zone ?? "UTC")),
  };
}

/** What the series do not explain of each place's total, as one more series. */
export function withOthers(data: ChartData, totals: readonly (number | null)[]): ChartData {
  const values = data.groups.map((_, i) => {
    const known = data.series.reduce((sum, { values: line }) => sum + (line[i] ?? 0), 0);
    const rest = (totals[i] ?? 0) - known;
    // Below the rounding of the sums there is nothing left.
    return rest > Math.max(1e-9, known * 1e-9) ? rest : 0;
  });
  if (values.every((value) => value === 0)) return data;
  return { ...data, series: [...data.series, { name: null, color: OTHERS_COLOR, values }] };
}

const incompleteIn = (dimension: DimensionName, groups: readonly string[], nowLocalMs: number): boolean[] =>
  groups.map((group) => isTimeDimension(dimension) && isIncomplete(dimension, group, nowLocalMs));

export const totalAt = ({ series }: ChartData, i: number): number =>
  series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0);

/** The figures between gaps, each with its place: what a line may join. */
export function gapless(values: readonly (number | null)[]): { place: number; value: number }[][] {
  const runs: { place: number; value: number }[][] = [[]];
  for (const [place, value] of values.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ place, value });
  }
  return runs.filter(({ length }) => length > 0);
}
