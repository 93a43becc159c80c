// Days of a time zone. Zones are names of the IANA database; every runtime and both databases have it.

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const NAME = /^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Offsets such as `+05:30` are none: databases read their sign the other way round. */
export function isTimeZone(name: string): boolean {
  try {
    return NAME.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

export const TIME_ZONE_FAULT = "must be the name of an IANA time zone, such as Europe/Berlin";

/** What clocks show there, as if it were UTC, in milliseconds since 1970. */
export function localMs(ms: number, zone: string): number {
  if (zone === "UTC") return ms;
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(ms);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const seconds = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return seconds + (((ms % 1000) + 1000) % 1000);
}

/** `2026-11-27`: the day there. */
export const dayIn = (ms: number, zone: string): string =>
  new Date(localMs(ms, zone)).toISOString().slice(0, 10);

/** The first instant of a day there; the day as its midnight in UTC. Not every day has a midnight of its own. */
export function instantOfDay(dayMs: number, zone: string): number {
  if (zone === "UTC") return dayMs;
  const at = (ms: number) => dayMs - (localMs(ms, zone) - ms);
  const [before, after] = [at(dayMs - DAY_MS), at(dayMs + DAY_MS)];
  if (before === after) return before;
  // Clocks are turned within a day of it.
  let [early, late] = [Math.min(before, after) - 1, Math.max(before, after)];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (localMs(middle, zone) >= dayMs) late = middle;
    else early = middle;
  }
  return late;
}

/** No clock was turned twice within four weeks, but for a few that paused summer time for a month. */
const LOOK_EVERY_MS = 28 * DAY_MS;

/** Whether clocks there differ from UTC by whole hours from one instant to another. */
export function hasWholeHours(zone: string, fromMs: number, toMs: number): boolean {
  for (let ms = fromMs; ms < toMs + LOOK_EVERY_MS; ms += LOOK_EVERY_MS) {
    const at = Math.min(ms, toMs);
    if ((localMs(at, zone) - at) % HOUR_MS !== 0) return false;
  }
  return true;
}
