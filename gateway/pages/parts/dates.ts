import { EXPLANATION_MEANING, EXPLANATIONS } from "#shared/explanation.ts";
import type { DimensionName } from "#shared/report.ts";
import { localMs } from "#shared/time-zone.ts";
import { codeWords } from "./words.ts";

const DAY_MS = 86_400_000;

const utc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
const DAY = utc({ day: "numeric", month: "short" });
const LONG_DAY = utc({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const YEAR_DAY = utc({ day: "numeric", month: "short", year: "numeric" });
const MONTH = utc({ month: "short", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const TIME = { hour: "numeric", minute: "2-digit", second: "2-digit" } as const;
const SHORT_MOMENT = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", ...TIME });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

export const isTimeDimension = (name: DimensionName): name is "day" | "week" | "month" =>
  name === "day" || name === "week" || name === "month";

/** A group of a time dimension (`2026-11-03`, `2026-11`) as people write it. */
export function timeGroup(name: DimensionName, group: string): string {
  const at = isTimeDimension(name) ? Date.parse(group.length === 7 ? `${group}-01` : group) : Number.NaN;
  if (Number.isNaN(at)) return group;
  return name === "month" ? MONTH.format(at) : DAY.format(at);
}

/** A group as people read it: explanations in words, times at length. */
export const longTimeGroup = (name: DimensionName, group: string): string => {
  const explained = EXPLANATIONS.find((it) => name === "explanation" && it === group);
  if (explained) return EXPLANATION_MEANING[explained][0];
  if (name === "error" || name === "surface") return codeWords(group);
  // Leading zeros put sizes in order.
  if (name === "pr_lines" || name === "pr_files") return group.replace(/^0+(?=\d)/, "");
  const at = isTimeDimension(name) ? Date.parse(group) : Number.NaN;
  if (Number.isNaN(at) || name === "month") return timeGroup(name, group);
  return name === "week" ? `Week of ${LONG_DAY.format(at)}` : LONG_DAY.format(at);
};

/** A day or a month of UTC, from its ISO text: `Nov 3, 2026`, `Nov 2026`; of another instant than a midnight, its local time. */
export const calendarDay = (at: string): string =>
  Date.parse(at) % DAY_MS === 0
    ? (at.length === "2026-11".length ? MONTH : YEAR_DAY).format(Date.parse(at))
    : shortMoment(at);
export const utcDay = (at: Date | number): string => DAY.format(at);
export const localMoment = (at: string): string => MOMENT.format(Date.parse(at));
/** Without the year where it is this one. */
export const shortMoment = (at: string, now = new Date()): string => {
  const moment = new Date(at);
  return (moment.getFullYear() === now.getFullYear() ? SHORT_MOMENT : MOMENT).format(moment);
};
export const localDay = (at: string): string => SHORT_DAY.format(Date.parse(at));

/** `2026-11-03`, of UTC. */
export const isoDay = (at: Date | number): string => new Date(at).toISOString().slice(0, 10);

type Stretch = { fromMs: number; toMs: number; zone: string };

/** Every group of a time dimension within a window, so that a day without calls is a gap of no height. */
export function timeGroups(name: DimensionName, { fromMs, toMs, zone }: Stretch): string[] {
  const groups: string[] = [];
  const GROUPS_MAX = 1000;
  // Groups are days of a calendar: what is counted is what clocks there show.
  const end = localMs(toMs - 1, zone);
  for (
    let at = startOf(name, localMs(fromMs, zone));
    at <= end && groups.length < GROUPS_MAX;
    at = after(name, at)
  ) {
    groups.push(name === "month" ? isoDay(at).slice(0, 7) : isoDay(at));
  }
  return groups;
}

function startOf(name: DimensionName, ms: number): number {
  const day = Math.floor(ms / DAY_MS) * DAY_MS;
  const at = new Date(day);
  if (name === "month") return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  // Weeks begin on Monday.
  return name === "week" ? day - ((at.getUTCDay() + 6) % 7) * DAY_MS : day;
}

function after(name: DimensionName, ms: number): number {
  if (name === "day") return ms + DAY_MS;
  if (name === "week") return ms + 7 * DAY_MS;
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
}

/** Whether a group reaches beyond now, as clocks there show it: its figure still grows. */
export function isIncomplete(name: DimensionName, group: string, nowLocalMs: number): boolean {
  const at = Date.parse(group.length === 7 ? `${group}-01` : group);
  return after(name, at) > nowLocalMs;
}
