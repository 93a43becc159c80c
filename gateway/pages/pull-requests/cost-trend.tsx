import type { MeasureName } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { measureWord } from "#shared/report-words.ts";
import { ChartPanel } from "../parts/charts/chart.tsx";
import { type ChartData, singleSeries } from "../parts/charts/data.ts";
import { Lines } from "../parts/charts/lines.tsx";
import { counted, usd } from "../parts/format.ts";

const COLORS = { median_cost_per_pr: "var(--s1)", median_low_usd: "var(--s8)", median_high_usd: "var(--s8)" };
const LINES = ["median_cost_per_pr", "median_low_usd", "median_high_usd"] as const;

/** The median by week, with the interval in which it lies: a change counts only where intervals part. */
export function CostTrend({ total, weeks }: { total: QueryAnswer; weeks: QueryAnswer }) {
  const [first, ...others] = LINES.map((measure) => singleSeries({ result: weeks, measure, unit: "USD" }));
  if (!first) return null;
  const data: ChartData = {
    ...first,
    series: [first, ...others].flatMap(({ series: [line] }, i) => {
      const name = LINES[i];
      return line && name ? [{ ...line, color: COLORS[name] }] : [];
    }),
  };
  const label = (name: string | null) => (name === null ? "" : measureWord(name as MeasureName));
  return (
    <ChartPanel
      {...{ as: Lines, title: "Median cost of a merge by week", sub: verdict(total), data, label }}
    />
  );
}

/** What may be said of the change since the period before. */
export function verdict({ total: { current, previous } }: Pick<QueryAnswer, "total">): string {
  const known = (figures: typeof current) => {
    const { median_cost_per_pr: median, median_low_usd: low, median_high_usd: high } = figures ?? {};
    return median == null || low == null || high == null ? null : { median, low, high };
  };
  const [now, before] = [known(current), known(previous)];
  const count = (figures: typeof current) => counted(figures?.costed_prs ?? 0, "merge");
  if (now === null) return `${count(current)} of known cost: from 8 on, the median has an interval.`;
  const is = `The median is ${usd(now.median)}, and with a confidence of 95 % between ${usd(now.low)} and ${usd(now.high)} (${count(current)}).`;
  if (previous === null) return is;
  if (before === null) return `${is} The period before has ${count(previous)}, too few to compare with.`;
  const was = `${usd(before.median)} before (${usd(before.low)} to ${usd(before.high)}, ${count(previous)})`;
  if (now.low > before.high) return `${is} It rose: it was ${was}.`;
  if (now.high < before.low) return `${is} It fell: it was ${was}.`;
  return `${is} It was ${was}; the intervals overlap, so this is no trend.`;
}
