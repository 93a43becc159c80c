import type { Compare, Range, RangeName, Window } from "#shared/report.ts";
import { GatewayError } from "../errors.ts";

/** Milliseconds since 1970, half-open. `fromMs` null reaches back to the first record. */
export type Period = { fromMs: number | null; toMs: number };
/** A period that has a beginning. */
type Bounded = { fromMs: number; toMs: number };

/** The periods of a report; `previous` is null where there is nothing to compare with. */
export type Periods = { current: Period; previous: Period | null };

const DAY_MS = 86_400_000;

const monthStartMs = (at: Date, months = 0): number =>
  Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months);

const shiftedBack = ({ fromMs, toMs }: Bounded, byMs: number): Bounded => ({
  fromMs: fromMs - byMs,
  toMs: toMs - byMs,
});

/** Midnight of today and the `days - 1` before it, to now; before it the same stretch `days` earlier. */
const lastDays = (days: number) => (now: Date) => {
  const midnightMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const current = { fromMs: midnightMs - (days - 1) * DAY_MS, toMs: now.getTime() };
  return { current, previous: shiftedBack(current, days * DAY_MS) };
};

const NAMED = {
  "7d": lastDays(7),
  "30d": lastDays(30),
  mtd: (now) => {
    const fromMs = monthStartMs(now);
    const previousFromMs = monthStartMs(now, -1);
    const elapsedMs = now.getTime() - fromMs;
    // On the 31st there is no such day in a shorter month before: its end is as far as it goes.
    const previous = { fromMs: previousFromMs, toMs: Math.min(previousFromMs + elapsedMs, fromMs) };
    return { current: { fromMs, toMs: now.getTime() }, previous };
  },
  last_month: (now) => ({
    current: { fromMs: monthStartMs(now, -1), toMs: monthStartMs(now) },
    previous: { fromMs: monthStartMs(now, -2), toMs: monthStartMs(now, -1) },
  }),
} as const satisfies Record<RangeName, (now: Date) => { current: Bounded; previous: Bounded }>;

/**
 * The current and the previous period of a range, in UTC.
 * @throws GatewayError invalid_request, naming the member.
 */
export function periodsOf(range: Range, compare: Compare, now: Date): Periods {
  const { current, previous } = typeof range === "string" ? NAMED[range](now) : customPeriods(range, now);
  return { current, previous: compare === "previous_period" ? previous : null };
}

function customPeriods(range: Exclude<Range, string>, now: Date): Periods {
  const fromMs = range.from === null ? null : instantOf(range.from, "from").ms;
  const toMs = range.to === null ? now.getTime() : endOf(range.to);
  if (fromMs === null) return { current: { fromMs, toMs }, previous: null };
  if (fromMs >= toMs) throw new GatewayError("invalid_request", "spec.range.from: must be before the end.");
  const current = { fromMs, toMs };
  return { current, previous: shiftedBack(current, toMs - fromMs) };
}

/** A `to` that is a date includes that day. */
function endOf(text: string): number {
  const { ms, dateOnly } = instantOf(text, "to");
  return dateOnly ? ms + DAY_MS : ms;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:z|([+-])(\d\d):(\d\d))$/i;

// Beyond these years the period before the longest one would leave the calendar that RFC 3339 can write.
const YEAR_MIN = 1970;
const YEAR_MAX = 2999;

/** A date, or an RFC 3339 date and time of any offset; digits below the millisecond are dropped. */
function instantOf(text: string, member: "from" | "to"): { ms: number; dateOnly: boolean } {
  const [date = "", time, ...rest] = text.split(/[Tt]/);
  const dayMs = dayOf(date);
  const timeMs = time === undefined ? 0 : timeOf(time);
  if (dayMs === null || timeMs === null || rest.length > 0) {
    throw new GatewayError(
      "invalid_request",
      `spec.range.${member}: must be a date (2026-11-20) or an RFC 3339 time (2026-11-20T09:30:00Z), ` +
        `of the years ${YEAR_MIN} to ${YEAR_MAX}.`,
    );
  }
  return { ms: dayMs + timeMs, dateOnly: time === undefined };
}

function dayOf(text: string): number | null {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined || Number(year) < YEAR_MIN || Number(year) > YEAR_MAX) return null;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // A 30 February rolls over into March: what comes back differs from what was written.
  return new Date(ms).toISOString().startsWith(text) ? ms : null;
}

/** Milliseconds from midnight UTC of the date written beside it; negative where the offset leads to the day before. */
function timeOf(text: string): number | null {
  const [, hour, minute, second, fraction = "", sign, offsetHour = "0", offsetMinute = "0"] =
    TIME.exec(text) ?? [];
  if (hour === undefined) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  return (minutes * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
}

/** A period as the payload writes it. */
export const windowOf = ({ fromMs, toMs }: Period): Window => ({
  from: fromMs === null ? null : new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});
