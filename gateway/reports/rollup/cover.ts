import type { Period } from "../window.ts";

/** Milliseconds since 1970, half-open; infinite where there is no bound. */
export type Span = { fromMs: number; toMs: number };

/** How far rollups reach, as one snapshot of the database tells. */
export type Survey = {
  /** Every hour before is rolled up. */
  rolledToMs: number;
  /** Single records before are gone; null: none. */
  rawFromMs: number | null;
  /** Hours before `rolledToMs` in which records changed since, ascending. */
  markedMs: readonly number[];
};

/** Where the records of a period are read, each of them in one place: whole days, then hours, else single records. */
export type Cover = { days: Span | null; hours: readonly Span[]; raw: readonly Span[] };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const down = (stepMs: number, ms: number): number => Math.floor(ms / stepMs) * stepMs;
const up = (stepMs: number, ms: number): number => Math.ceil(ms / stepMs) * stepMs;

/**
 * Of a marked hour the single records are read, so that no report ever shows an older state. An hour whose single
 * records are gone is one piece: it belongs to the period in which it begins; what came late for it stands beside it.
 */
export function coverOf(period: Period, survey: Survey, withDays: boolean): Cover {
  const fromMs = period.fromMs ?? Number.NEGATIVE_INFINITY;
  const { toMs } = period;
  const rawFromMs = survey.rawFromMs ?? Number.NEGATIVE_INFINITY;
  const endMs = toMs < rawFromMs ? up(HOUR_MS, toMs) : down(HOUR_MS, toMs);
  const whole = { fromMs: up(HOUR_MS, fromMs), toMs: Math.min(endMs, survey.rolledToMs) };
  const single = (span: Span): Span => ({ ...span, fromMs: Math.max(span.fromMs, rawFromMs) });
  if (whole.fromMs >= whole.toMs) {
    return { days: null, hours: [], raw: [single({ fromMs, toMs })].filter(isSpan) };
  }
  const marked = survey.markedMs.filter((ms) => ms >= whole.fromMs && ms < whole.toMs);
  const days = withDays ? longestDays(whole, marked) : null;
  const anew = marked.filter((ms) => ms >= rawFromMs).map(hourAt);
  const late = marked.filter((ms) => ms < rawFromMs).map(hourAt);
  return {
    days,
    hours: without(whole, [...(days ? [days] : []), ...anew]),
    raw: merged([
      ...late,
      single({ fromMs, toMs: whole.fromMs }),
      ...anew,
      single({ fromMs: whole.toMs, toMs }),
    ]).filter(isSpan),
  };
}

const hourAt = (ms: number): Span => ({ fromMs: ms, toMs: ms + HOUR_MS });
const isSpan = ({ fromMs, toMs }: Span): boolean => fromMs < toMs;

/** The longest run of whole days in which no hour is marked. */
function longestDays({ fromMs, toMs }: Span, marked: readonly number[]): Span | null {
  const within = { fromMs: up(DAY_MS, fromMs), toMs: down(DAY_MS, toMs) };
  const holes = marked.map((ms) => ({ fromMs: down(DAY_MS, ms), toMs: down(DAY_MS, ms) + DAY_MS }));
  const length = (span: Span) => span.toMs - span.fromMs;
  return without(within, holes).reduce<Span | null>(
    (longest, span) => (longest && length(longest) >= length(span) ? longest : span),
    null,
  );
}

/** What is left of a span beside its holes. */
function without(span: Span, holes: readonly Span[]): Span[] {
  const left: Span[] = [];
  let fromMs = span.fromMs;
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
