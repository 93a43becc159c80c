import type { Period } from "../window.ts";

/** Milliseconds since 1970, half-open; infinite where there is no bound. */
export type Span = { fromMs: number; toMs: number };

/** How far sums of hours and days reach, as one snapshot of the database tells. */
export type Reached = {
  /** All before is rolled up: every hour, and the quarters of the last one. */
  rolledToMs: number;
  /** What is made of hours is made of those before. */
  summedToMs: number;
  /** Single records before are gone; null: none. */
  rawFromMs: number | null;
  /** Hours before `rolledToMs` in which records changed since, ascending. */
  markedMs: readonly number[];
};

/**
 * How far all rollups reach: weeks before the Monday `weeksToMs` are summed up, and the quarters of the hours
 * `quarteredMs`; of the days that begin at `firstsMs` it is known when each person and session was active first.
 */
export type Survey = Reached & {
  weeksToMs: number;
  quarteredMs: readonly number[];
  firstsMs: readonly number[];
};

/**
 * Where the records of a period are read, each of them in one place: `sums` by one dimension, from a midnight to the end
 * of an hour; sums of `quarters` of an hour that the period cuts, from its beginning on; cells of whole `days` (the last
 * of them as far as it is summed up) and of `hours`; else single records. Of those that are `told` the sums know, to the
 * end of the period, who made them (a span without any is empty).
 */
export type Cover = {
  sums: Span | null;
  quarters: Span | null;
  days: readonly Span[];
  hours: readonly Span[];
  raw: readonly Span[];
  told: Span | null;
};

/** What is known of where a period ends, and whether it is asked who was active (`who`). */
export type Edge = Pick<Survey, "quarteredMs" | "firstsMs"> & { who: boolean };
const NOBODY: Edge = { quarteredMs: [], firstsMs: [], who: false };

export const HOUR_MS = 3_600_000;
export const QUARTER_MS = HOUR_MS / 4;
export const DAY_MS = 24 * HOUR_MS;

export const down = (stepMs: number, ms: number): number => Math.floor(ms / stepMs) * stepMs;
const up = (stepMs: number, ms: number): number => Math.ceil(ms / stepMs) * stepMs;

/** The Monday that begins the week of an instant; 1970 began on a Thursday. */
export const mondayOf = (ms: number): number => down(7 * DAY_MS, ms - 4 * DAY_MS) + 4 * DAY_MS;

/**
 * Of a marked hour the single records are read, so that no report ever shows an older state. An hour whose single
 * records are gone is one piece: it belongs to the period in which it begins; what came late for it stands beside it.
 */
export function coverOf(period: Period, survey: Reached, withSums: boolean, edge: Edge = NOBODY): Cover {
  const fromMs = period.fromMs ?? Number.NEGATIVE_INFINITY;
  const { toMs } = period;
  const rawFromMs = survey.rawFromMs ?? Number.NEGATIVE_INFINITY;
  const endMs = toMs < rawFromMs ? up(HOUR_MS, toMs) : down(HOUR_MS, toMs);
  // Of the hour that is rolled up in part its sums hold no more than a later period does.
  const isPast = toMs < survey.rolledToMs;
  const whole = { fromMs: up(HOUR_MS, fromMs), toMs: isPast ? endMs : survey.rolledToMs };
  const single = (span: Span): Span => ({ ...span, fromMs: Math.max(span.fromMs, rawFromMs) });
  if (whole.fromMs >= whole.toMs) {
    return {
      sums: null,
      quarters: null,
      days: [],
      hours: [],
      raw: [single({ fromMs, toMs })].filter(isSpan),
      told: null,
    };
  }
  const marked = survey.markedMs.filter((ms) => ms >= whole.fromMs && ms < whole.toMs);
  const summed = { fromMs: whole.fromMs, toMs: Math.min(whole.toMs, survey.summedToMs) };
  const longest = withSums && isSpan(summed) ? longestSums(summed, marked) : null;
  const sums = longest && edge.who ? toKnown(longest, edge.firstsMs) : longest;
  const known = sums ? [sums] : [];
  const end = endOf(sums, { fromMs, toMs }, whole.toMs, survey, edge);
  const anew = marked
    .filter((ms) => ms >= rawFromMs)
    .map((ms) => ({ fromMs: ms, toMs: Math.min(ms + HOUR_MS, whole.toMs) }));
  const late = marked.filter((ms) => ms < rawFromMs).map(hourAt);
  const days = wholeDays(summed, [...anew, ...late], survey.summedToMs).flatMap((span) =>
    without(span, known),
  );
  return {
    sums,
    quarters: end.quarters,
    days,
    hours: without(whole, [...known, ...days, ...anew]),
    raw: merged([
      ...late,
      single({ fromMs, toMs: whole.fromMs }),
      ...anew,
      ...(end.raw ? [single(end.raw)] : []),
    ]).filter(isSpan),
    told: end.told,
  };
}

/** How a period ends behind its whole hours, which end at `hourMs`. */
function endOf(
  sums: Span | null,
  { fromMs, toMs }: Span,
  hourMs: number,
  survey: Reached,
  { quarteredMs, firstsMs, who }: Edge,
): { quarters: Span | null; told: Span | null; raw: Span | null } {
  const changed = survey.markedMs.includes(hourMs);
  // Who is in other records of the period, too, would have to be looked for to the end of the hour alone.
  const alone = sums?.fromMs === fromMs && sums.toMs === hourMs;
  const isTold = who && alone && !changed && isCut(toMs, hourMs, survey) && isKnown(firstsMs, toMs);
  const quarters = sums && !changed && isTold === who ? quartersOf(toMs, hourMs, quarteredMs) : null;
  const rest = { fromMs: quarters?.toMs ?? hourMs, toMs };
  return { quarters, told: isTold ? rest : null, raw: isTold ? null : rest };
}

/** Whether it is known of a day to an instant of it who was active. */
const isKnown = (firstsMs: readonly number[], ms: number): boolean =>
  ms === down(DAY_MS, ms) || firstsMs.includes(down(DAY_MS, ms));

/** Whether a period ends in an hour of which more is summed up. */
const isCut = (toMs: number, hourMs: number, { rolledToMs, summedToMs }: Reached): boolean =>
  toMs > hourMs && toMs < rolledToMs && toMs <= summedToMs;

function toKnown(span: Span, firstsMs: readonly number[]): Span | null {
  if (isKnown(firstsMs, span.toMs)) return span;
  const days = { ...span, toMs: down(DAY_MS, span.toMs) };
  return isSpan(days) ? days : null;
}

/** Of the hour that begins where whole hours end, the quarters that lie in the period; null: they are not known. */
function quartersOf(toMs: number, hourMs: number, quarteredMs: readonly number[]): Span | null {
  const span = { fromMs: hourMs, toMs: down(QUARTER_MS, toMs) };
  return quarteredMs.includes(hourMs) && span.toMs < hourMs + HOUR_MS && isSpan(span) ? span : null;
}

const hourAt = (ms: number): Span => ({ fromMs: ms, toMs: ms + HOUR_MS });
const isSpan = ({ fromMs, toMs }: Span): boolean => fromMs < toMs;

/** The longest run of hours from a midnight on in which none is marked. */
function longestSums(summed: Span, marked: readonly number[]): Span | null {
  const length = (span: Span) => span.toMs - span.fromMs;
  return without(summed, marked.map(hourAt))
    .map((span) => ({ ...span, fromMs: up(DAY_MS, span.fromMs) }))
    .filter(isSpan)
    .reduce<Span | null>(
      (longest, span) => (longest && length(longest) >= length(span) ? longest : span),
      null,
    );
}

/** Whole days in which no hour is marked; the last counts as one where it is not summed up any further. */
function wholeDays({ fromMs, toMs }: Span, marked: readonly Span[], summedToMs: number): Span[] {
  const within = { fromMs: up(DAY_MS, fromMs), toMs: toMs === summedToMs ? toMs : down(DAY_MS, toMs) };
  const holes = marked.map(({ fromMs: ms }) => ({
    fromMs: down(DAY_MS, ms),
    toMs: down(DAY_MS, ms) + DAY_MS,
  }));
  return isSpan(within) ? without(within, holes) : [];
}

/** What is left of a span beside its holes. */
function without(span: Span, holes: readonly Span[]): Span[] {
  const left: Span[] = [];
  let { fromMs } = span;
  for (const hole of [...holes].sort((a, b) => a.fromMs - b.fromMs)) {
    left.push({ fromMs, toMs: Math.min(hole.fromMs, span.toMs) });
    fromMs = Math.max(fromMs, hole.toMs);
  }
  left.push({ fromMs, toMs: span.toMs });
  return left.filter(isSpan);
}

/** The same instants as few spans. */
function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.filter(isSpan).sort((a, b) => a.fromMs - b.fromMs)) {
    const last = result.at(-1);
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else result.push({ ...span });
  }
  return result;
}
