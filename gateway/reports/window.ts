import type { Compare, Range, RangeName, Window } from "#shared/report.ts";
import { instantOfDay, localMs } from "#shared/time-zone.ts";
import { refuse } from "../errors.ts";

/** Milliseconds since 1970, half-open. `fromMs` null reaches back to the first record. */
export type Period = { fromMs: number | null; toMs: number };
/** A period that has a beginning. */
type Bounded = { fromMs: number; toMs: number };

/** When a report is asked for: the end of ranges that have none, and the zone of their days. */
export type Moment = { now: Date; timeZone?: string };

/** The periods of a report; `previous` is null where there is nothing to compare with. */
export type Periods = { current: Period; previous: Period | null };

const DAY_MS = 86_400_000;

const shiftedBack = ({ fromMs, toMs }: Bounded, byMs: number): Bounded => ({
  fromMs: fromMs - byMs,
  toMs: toMs - byMs,
});

/** Now, and the calendar around it. */
type Today = {
  nowMs: number;
  /** When the day so many days before today begins. */
  day(back: number): number;
  /** When the month so many months before this one begins. */
  month(back: number): number;
};

function todayIn(zone: string, now: Date): Today {
  const nowMs = now.getTime();
  const local = new Date(localMs(nowMs, zone));
  const todayMs = Math.floor(local.getTime() / DAY_MS) * DAY_MS;
  return {
    nowMs,
    day: (back) => instantOfDay(todayMs - back * DAY_MS, zone),
    month: (back) => instantOfDay(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() - back), zone),
  };
}

/** The begun day or month and the stretch before it, as far as that has come by now. */
const upToNow = (nowMs: number, begins: { fromMs: number; unitMs: number; before: Bounded }) => {
  const { fromMs, unitMs, before } = begins;
  // In a shorter month there is no such day; on some days clocks are turned: its end is as far as it goes.
  const toMs = Math.min(before.toMs + (nowMs - unitMs), fromMs);
  return { current: { fromMs, toMs: nowMs }, previous: { fromMs: before.fromMs, toMs } };
};

/** Midnight of today and the `days - 1` before it, to now; before it the same stretch `days` earlier. */
const lastDays =
  (days: number) =>
  ({ nowMs, day }: Today) =>
    upToNow(nowMs, {
      fromMs: day(days - 1),
      unitMs: day(0),
      before: { fromMs: day(2 * days - 1), toMs: day(days) },
    });

const NAMED = {
  "7d": lastDays(7),
  "30d": lastDays(30),
  mtd: ({ nowMs, month }) =>
    upToNow(nowMs, {
      fromMs: month(0),
      unitMs: month(0),
      before: { fromMs: month(1), toMs: month(1) },
    }),
  last_month: ({ month }) => ({
    current: { fromMs: month(1), toMs: month(0) },
    previous: { fromMs: month(2), toMs: month(1) },
  }),
} as const satisfies Record<RangeName, (today: Today) => { current: Bounded; previous: Bounded }>;

/** The periods of a range in a zone's days and months. @throws GatewayError invalid_request, naming the member. */
export function periodsOf(range: Range, compare: Compare, { now, timeZone = "UTC" }: Moment): Periods {
  const { current, previous } =
    typeof range === "string" ? NAMED[range](todayIn(timeZone, now)) : customPeriods(range, now, timeZone);
  return { current, previous: compare === "previous_period" ? previous : null };
}

function customPeriods(range: Exclude<Range, string>, now: Date, zone: string): Periods {
  const fromMs = range.from === null ? null : startOf(range.from, zone);
  const toMs = range.to === null ? now.getTime() : endOf(range.to, zone);
  if (fromMs === null) return { current: { fromMs, toMs }, previous: null };
  if (fromMs >= toMs) refuse("spec.range.from: must be before the end.");
  const current = { fromMs, toMs };
  return { current, previous: monthsBefore(current, zone) ?? shiftedBack(current, toMs - fromMs) };
}

/** As many calendar months before a period as it consists of; null: it is no number of them. */
function monthsBefore({ fromMs, toMs }: Bounded, zone: string): Bounded | null {
  const [from, to] = [fromMs, toMs].map((ms) => new Date(localMs(ms, zone)));
  if (!from || !to || !isMonthStart(from) || !isMonthStart(to)) return null;
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  const before = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() - months);
  return { fromMs: instantOfDay(before, zone), toMs: fromMs };
}

const isMonthStart = (at: Date): boolean => at.getTime() === Date.UTC(at.getUTCFullYear(), at.getUTCMonth());

function startOf(text: string, zone: string): number {
  const { ms, dateOnly } = instantOf(text, "from");
  return dateOnly ? instantOfDay(ms, zone) : ms;
}

/** A `to` that is a date includes that day. */
function endOf(text: string, zone: string): number {
  const { ms, dateOnly } = instantOf(text, "to");
  return dateOnly ? instantOfDay(ms + DAY_MS, zone) : ms;
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
  if (dayMs === null || timeMs === null || rest.length > 0)
    refuse(
      `spec.range.${member}: must be a date (2026-11-20) or an RFC 3339 time (2026-11-20T09:30:00Z), ` +
        `of the years ${YEAR_MIN} to ${YEAR_MAX}.`,
    );
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
