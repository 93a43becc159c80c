/** What a day (`2026-11-28`, UTC) cost, in USD. For statistics only: sums of money are exact elsewhere. */
export type DayCost = { day: string; usd: number };

/** What a period will have cost at its end, and the band in which it ends four times of five. */
export type Forecast = { spentUsd: number; expectedUsd: number; lowUsd: number; highUsd: number };

const DAY_MS = 86_400_000;

/**
 * Fitted on generated worlds other than those of the benchmark (test/bench/forecast): how many weeks count, beyond what
 * multiple of the weekday's median a day counts as that multiple, how much a trend must show to be believed (days of a
 * prior without one), and the width of the band.
 */
const FITTED = { weeks: 12, cap: 2, trendPrior: 20_000, band: 2, deviations: 2.75, times: 2 };
/** Same weekdays that a judgement needs. */
const WEEKS_MIN = 4;
/** Days that a forecast needs. */
const DAYS_MIN = 14;
/** A day that costs less than this above the usual is no anomaly, in USD. */
export const EXCESS_MIN = 1;

const timeOf = (day: string): number => Date.parse(day) / DAY_MS;
const weekdayOf = (time: number): number => time % 7;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2;
}

type Point = { time: number; usd: number };

/** Days up to the one before `end`, those without cost included. */
function series(days: readonly DayCost[], end: number, count: number): Point[] {
  const known = new Map(days.map(({ day, usd }) => [timeOf(day), usd]));
  const first = Math.max(end - count, Math.min(end, ...known.keys()));
  return Array.from({ length: end - first }, (_, at) => ({
    time: first + at,
    usd: known.get(first + at) ?? 0,
  }));
}

const weekdayMedians = (points: readonly Point[]): number[] =>
  Array.from({ length: 7 }, (_, day) =>
    median(points.flatMap(({ time, usd }) => (weekdayOf(time) === day ? [usd] : []))),
  );

/**
 * The cost of a period (from `from` until before `to`) at its end, by the days before `today` and by what today has cost so
 * far: each weekday costs its median, times a level and a trend common to all. Null: too few days are known.
 */
export function forecastOf(
  days: readonly DayCost[],
  { from, to, today }: { from: string; to: string; today: string },
): Forecast | null {
  const now = timeOf(today);
  const points = series(days, now, FITTED.weeks * 7);
  if (points.length < DAYS_MIN) return null;
  const usual = weekdayMedians(points);
  const fit = levelOf(points, usual, now);
  const start = timeOf(from);
  const spentUsd = days.reduce(
    (sum, { day, usd }) => (timeOf(day) >= start && timeOf(day) <= now ? sum + usd : sum),
    0,
  );
  const soFar = days.find(({ day }) => day === today)?.usd ?? 0;
  let [rest, variance] = [0, 0];
  for (let time = Math.max(now, start); time < timeOf(to); time += 1) {
    const whole = (usual[weekdayOf(time)] ?? 0) * Math.max(0, fit.level + fit.trend * (time - now));
    const usd = time === now ? Math.max(0, whole - soFar) : whole;
    rest += usd;
    variance += (fit.deviation * usd) ** 2;
  }
  // The days' own noise, and that of the level, which all of them share.
  const spread = FITTED.band * Math.sqrt(variance + (rest * fit.deviation) ** 2 / points.length);
  const expectedUsd = spentUsd + rest;
  return {
    spentUsd,
    expectedUsd,
    lowUsd: Math.max(spentUsd, expectedUsd - spread),
    highUsd: expectedUsd + spread,
  };
}

/** Least squares over what days cost in medians of their weekday, with a trend that has to show itself. */
function levelOf(points: readonly Point[], usual: readonly number[], now: number) {
  const ratios = points.flatMap(({ time, usd }) => {
    const whole = usual[weekdayOf(time)] ?? 0;
    return whole > 0 ? [{ at: time - now, ratio: Math.min(usd / whole, FITTED.cap) }] : [];
  });
  const count = Math.max(1, ratios.length);
  const middle = ratios.reduce((sum, { at }) => sum + at, 0) / count;
  const mean = ratios.reduce((sum, { ratio }) => sum + ratio, 0) / count;
  const product = ratios.reduce((sum, { at, ratio }) => sum + (at - middle) * (ratio - mean), 0);
  const square = ratios.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  const trend = product / (square + FITTED.trendPrior);
  const level = mean - trend * middle;
  const left = ratios.reduce((sum, { at, ratio }) => sum + (ratio - level - trend * at) ** 2, 0);
  return { level, trend, deviation: Math.sqrt(left / count) / Math.max(mean, 1e-9) };
}

/** A day that cost far more than its weekday usually does. */
export type CostAnomaly = { day: string; usd: number; usualUsd: number };

/**
 * The days from `from` on that are far above the median of the same weekday in the weeks before, by the median absolute
 * deviation of all days from theirs, in logarithms. A day is judged by days before it alone.
 */
export function anomaliesOf(days: readonly DayCost[], from: string): CostAnomaly[] {
  return days
    .filter(({ day }) => day >= from)
    .flatMap(({ day, usd }) => {
      const time = timeOf(day);
      const before = series(days, time, FITTED.weeks * 7);
      const usual = weekdayMedians(before);
      const usualUsd = usual[weekdayOf(time)] ?? 0;
      if (before.length < WEEKS_MIN * 7 || usualUsd <= 0 || usd - usualUsd < EXCESS_MIN) return [];
      const off = before.flatMap(({ time: at, usd: cost }) => {
        const whole = usual[weekdayOf(at)] ?? 0;
        return cost > 0 && whole > 0 ? [Math.abs(Math.log(cost / whole))] : [];
      });
      // Of normal noise, the deviation is 1.4826 times the median absolute one.
      const times = Math.max(FITTED.times, Math.exp(FITTED.deviations * 1.4826 * median(off)));
      return usd > times * usualUsd ? [{ day, usd, usualUsd }] : [];
    });
}
