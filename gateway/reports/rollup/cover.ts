import type { Period } from "../window.ts";

/** Milliseconds since 1970, half-open; infinite where there is no bound. */
export type Span = { fromMs: number; toMs: number };

/** How far rollups reach, as one snapshot of the database tells. */
export type Reach = {
  /** Everything before it is rolled up: every hour, and the quarters of the last one. */
  rolledToMs: number;
  /** Single records before it are dropped; null: none are. */
  rawFromMs: number | null;
  /** Cells and sums of hours are kept from it on, and cells of those before `rawFromMs`; null: of all. */
  hoursFromMs: number | null;
  /** Sums by one dimension lack some kinds and days, so cells are read. */
  hasFew?: boolean;
  /** Hours before `rolledToMs` in which records changed since, ascending. */
  markedMs: readonly number[];
};

/** Sums by one dimension: of whole days from `fromMs` to `midnightMs`, and of hours from there to `toMs`. */
export type SumsSpan = Span & { midnightMs: number };

/**
 * Where the records of a period are read, each in one place: as `sums` by one dimension; as cells of whole `days` (the
 * last of them as far as it is rolled up) and of `hours`; else as single records (`raw`).
 */
export type Cover = {
  sums: SumsSpan | null;
  days: readonly Span[];
  hours: readonly Span[];
  raw: readonly Span[];
};

/** The finest sums by one dimension that there are: of hours, or of days alone. */
export type SumsGrain = "hours" | "days";

export const HOUR_MS = 3_600_000;
export const QUARTER_MS = HOUR_MS / 4;
export const DAY_MS = 24 * HOUR_MS;

const down = (stepMs: number, ms: number): number => Math.floor(ms / stepMs) * stepMs;
const up = (stepMs: number, ms: number): number => Math.ceil(ms / stepMs) * stepMs;

/**
 * Of a marked hour the single records are read, so that no report ever shows an older state. An hour whose single records
 * are dropped is one piece: it belongs to the period in which it begins; late records of it are counted separately.
 */
export function coverOf(period: Period, reach: Reach, bySums: SumsGrain | null): Cover {
  const fromMs = period.fromMs ?? Number.NEGATIVE_INFINITY;
  const { toMs } = period;
  const rawFromMs = reach.rawFromMs ?? Number.NEGATIVE_INFINITY;
  const endMs = toMs < rawFromMs ? up(HOUR_MS, toMs) : down(HOUR_MS, toMs);
  // The last hour may be rolled up in part: then its cells hold no more than a period that ends later.
  const isPast = toMs < reach.rolledToMs;
  const whole = { fromMs: up(HOUR_MS, fromMs), toMs: isPast ? endMs : reach.rolledToMs };
  const single = (span: Span): Span => ({ ...span, fromMs: Math.max(span.fromMs, rawFromMs) });
  if (!isSpan(whole)) {
    return { sums: null, days: [], hours: [], raw: [single({ fromMs, toMs })].filter(isSpan) };
  }
  const marked = reach.markedMs.filter((ms) => ms >= whole.fromMs && ms < whole.toMs);
  const byHours = bySums && sumsOf(whole, reach);
  const isFolded = byHours && byHours.midnightMs < (reach.hoursFromMs ?? Number.NEGATIVE_INFINITY);
  const sums = byHours && (bySums === "days" || isFolded) ? wholeDaysOf(byHours) : byHours;
  const remade = marked
    .filter((ms) => ms >= rawFromMs)
    .map((ms) => ({ fromMs: ms, toMs: Math.min(ms + HOUR_MS, whole.toMs) }));
  const late = marked.filter((ms) => ms < rawFromMs).map(hourAt);
  const known = sums ? [sums] : [];
  const days = wholeDays(whole, [...remade, ...late, ...known], reach.rolledToMs);
  const fine = splitHours(without(whole, [...known, ...days, ...remade]), reach);
  return {
    sums,
    days,
    hours: fine.hours,
    raw: mergedSpans([
      ...fine.raw,
      ...late,
      single({ fromMs, toMs: whole.fromMs }),
      ...remade,
      single({ fromMs: whole.toMs, toMs }),
    ]),
  };
}

/** Where cells of hours are kept, and where only single records know hours. */
export function splitHours(
  spans: readonly Span[],
  reach: Pick<Reach, "rawFromMs" | "hoursFromMs"> | null,
): { hours: Span[]; raw: Span[] } {
  const [fromMs, toMs] = [reach?.rawFromMs ?? Number.NEGATIVE_INFINITY, reach?.hoursFromMs ?? null];
  const gap = toMs === null ? [] : [{ fromMs, toMs }];
  return {
    hours: spans.flatMap((span) => without(span, gap)),
    raw: spans.flatMap((span) => gap.map((it) => within(span, it)).filter(isSpan)),
  };
}
const within = (span: Span, it: Span): Span => ({
  fromMs: Math.max(span.fromMs, it.fromMs),
  toMs: Math.min(span.toMs, it.toMs),
});

/** The longest run of hours from a midnight on in which none is marked. */
function sumsOf(whole: Span, reach: Reach): SumsSpan | null {
  const length = (span: Span) => span.toMs - span.fromMs;
  const longest = without(whole, reach.markedMs.map(hourAt))
    .map((span) => ({ ...span, fromMs: up(DAY_MS, span.fromMs) }))
    .filter(isSpan)
    .reduce<Span | null>((best, span) => (best && length(best) >= length(span) ? best : span), null);
  if (!longest) return null;
  return {
    fromMs: longest.fromMs,
    midnightMs: down(DAY_MS, longest.toMs),
    toMs: down(HOUR_MS, longest.toMs),
  };
}

/** Without the hours behind the last midnight; null if nothing is left. */
const wholeDaysOf = ({ fromMs, midnightMs }: SumsSpan): SumsSpan | null =>
  fromMs < midnightMs ? { fromMs, midnightMs, toMs: midnightMs } : null;

const hourAt = (ms: number): Span => ({ fromMs: ms, toMs: ms + HOUR_MS });
const isSpan = ({ fromMs, toMs }: Span): boolean => fromMs < toMs;

/** Days of which no hour is read elsewhere; the last counts as whole where it is not rolled up any further. */
function wholeDays({ fromMs, toMs }: Span, elsewhere: readonly Span[], rolledToMs: number): Span[] {
  const within = { fromMs: up(DAY_MS, fromMs), toMs: toMs === rolledToMs ? toMs : down(DAY_MS, toMs) };
  const holes = elsewhere
    .filter(isSpan)
    .map((span) => ({ fromMs: down(DAY_MS, span.fromMs), toMs: up(DAY_MS, span.toMs) }));
  return isSpan(within) ? without(within, holes) : [];
}

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
export function mergedSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.filter(isSpan).sort((a, b) => a.fromMs - b.fromMs)) {
    const last = result.at(-1);
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else result.push({ ...span });
  }
  return result;
}
