import type { DimensionName } from "#shared/report.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;
const QUARTER = /^\d{4}-Q[1-4]$/;
const HOUR = /^([01]\d|2[0-3])$/;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Midnight of a calendar day in UTC; null for anything else (a 30 February, say). */
function midnightOf(text: string): Date | null {
  const date = new Date(DAY.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? date : null;
}

const MONDAY = 1;

/** What is wrong with a filter's value for a dimension of time; null where nothing is, and for the other dimensions. */
export function dateFault(dimension: DimensionName, text: string): string | null {
  if (dimension === "day") return midnightOf(text) ? null : "must be a day, such as 2026-11-20";
  if (dimension === "month") return MONTH.test(text) ? null : "must be a month, such as 2026-11";
  if (dimension === "quarter") return QUARTER.test(text) ? null : "must be a quarter, such as 2026-Q4";
  if (dimension === "hour_of_day") return HOUR.test(text) ? null : "must be an hour from 00 to 23";
  if (dimension !== "week") return null;
  return midnightOf(text)?.getUTCDay() === MONDAY ? null : "must be the Monday of a week, such as 2026-11-16";
}
