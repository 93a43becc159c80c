import { WEEKDAYS, type Weekday } from "#shared/settings.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type Schedule = { day: Weekday; hour: number };

/** The last instant at or before `now` at which a digest was due, in UTC. */
export function lastDue(now: Date, { day, hour }: Schedule): Date {
  const midnightMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const daysSince = (now.getUTCDay() - WEEKDAYS.indexOf(day) + 7) % 7;
  const dueMs = midnightMs - daysSince * DAY_MS + hour * HOUR_MS;
  return new Date(dueMs > now.getTime() ? dueMs - 7 * DAY_MS : dueMs);
}

/** The shortest time between digests when the schedule changes. */
export const APART_MS = 4 * DAY_MS;

/** The UTC day, such as `2026-11-23`, that identifies a digest. */
export const dueOn = (due: Date): string => due.toISOString().slice(0, 10);
