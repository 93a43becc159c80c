import type { DimensionName, Window } from "#shared/report.ts";

const DAY_MS = 86_400_000;

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
const DAY = format({ dateStyle: "medium" });
const MOMENT = format({ dateStyle: "medium", timeStyle: "medium" });
const MONTH = format({ month: "short", year: "numeric" });

/** `1 Nov 2026 to 25 Nov 2026`: the last day belongs to it. Ends within a day have their time. */
export function windowText({ from, to }: Window): string {
  const first = from === null ? "the first record" : momentText(Date.parse(from));
  if (to === null) return `${first} to now`;
  const end = Date.parse(to);
  // The instant after a whole day is the end of that day.
  const last = isMidnight(end) ? DAY.format(end - DAY_MS) : MOMENT.format(end);
  return first === last ? first : `${first} to ${last}`;
}

const isMidnight = (ms: number): boolean => ms % DAY_MS === 0;
const momentText = (ms: number): string => (isMidnight(ms) ? DAY : MOMENT).format(ms);

/** A group of a dimension: days, weeks (by their Monday) and months as people write them, names as they are. */
export function groupText(dimension: DimensionName | undefined, group: string): string {
  if (dimension === "month" && /^\d{4}-\d{2}$/.test(group)) return MONTH.format(Date.parse(`${group}-01`));
  if ((dimension === "day" || dimension === "week") && /^\d{4}-\d{2}-\d{2}$/.test(group)) {
    return DAY.format(Date.parse(group));
  }
  return group;
}
