import type { Range, Result } from "#shared/report.ts";

// Every label of a window is made from the answer's own window, here and nowhere else.

type Zoned = { time_zone?: string };
type Named = Pick<Result, "window"> & { spec: Pick<Result["spec"], "range"> } & Zoned;

const formatter = (options: Intl.DateTimeFormatOptions, timeZone: string) =>
  new Intl.DateTimeFormat(undefined, { ...options, timeZone });

/** Ranges that end when the report was asked for. */
export const isOpen = (range: Range): boolean =>
  typeof range === "string" ? range !== "last_month" : range.to === null;

/** What a report covers: `November to date`, `Oct 1 – 27`. */
export function windowWords(
  { window: { from, to }, spec, time_zone: zone = "UTC" }: Named,
  nowMs = Date.now(),
): string {
  const fromMs = from === null ? null : Date.parse(from);
  if (isOpen(spec.range) || to === null) return openWords(fromMs, nowMs, zone);
  return spanWords(fromMs, Date.parse(to), { zone, nowMs });
}

/** What it is compared with. */
export function previousWords(
  { previousWindow, time_zone: zone = "UTC" }: Pick<Result, "previousWindow"> & Zoned,
  nowMs = Date.now(),
): string {
  const { from = null, to = null } = previousWindow ?? {};
  return from === null || to === null
    ? "the period before"
    : spanWords(Date.parse(from), Date.parse(to), { zone, nowMs });
}

type In = { zone: string; nowMs: number };

/** Whether a day (`%Y-%m-%d`) or a month begins at an instant; not every day has a midnight. */
const begins = (unit: "day" | "month", ms: number, zone: string): boolean => {
  const name = formatter(
    { year: "numeric", month: "numeric", ...(unit === "day" && { day: "numeric" }) },
    zone,
  );
  return name.format(ms) !== name.format(ms - 1);
};

const yearOf = (ms: number, zone: string): string => formatter({ year: "numeric" }, zone).format(ms);

function openWords(fromMs: number | null, nowMs: number, zone: string): string {
  if (fromMs === null) return "First record – now";
  const month = formatter({ month: "long", year: "numeric" }, zone);
  const isMonth = begins("month", fromMs, zone) && month.format(fromMs) === month.format(nowMs);
  const day = dayFormat([fromMs, nowMs], { zone, nowMs });
  if (isMonth) return `${formatter({ month: "long" }, zone).format(fromMs)} to date`;
  return day.format(fromMs) === day.format(nowMs)
    ? `${day.format(fromMs)} to date`
    : `${day.format(fromMs)} – now`;
}

function spanWords(fromMs: number | null, toMs: number, at: In): string {
  const { zone } = at;
  const lastMs = toMs - 1;
  const isWhole = begins("day", toMs, zone) && (fromMs === null || begins("day", fromMs, zone));
  if (fromMs === null) {
    return `First record – ${isWhole ? dayFormat([lastMs], at).format(lastMs) : momentFormat([toMs], at).format(toMs)}`;
  }
  if (isWhole && begins("month", fromMs, zone) && begins("month", toMs, zone)) {
    const options = { month: "long", ...yearIfOther([fromMs, lastMs], at) } as const;
    return formatter(options, zone).formatRange(fromMs, lastMs);
  }
  if (isWhole) return dayFormat([fromMs, lastMs], at).formatRange(fromMs, lastMs);
  const first = begins("day", fromMs, zone) ? dayFormat([fromMs], at) : momentFormat([fromMs], at, false);
  return `${first.format(fromMs)} – ${momentFormat([toMs], at).format(toMs)}`;
}

/** Shows the year unless it is the current one. */
const yearIfOther = (instants: readonly number[], { zone, nowMs }: In) =>
  instants.some((ms) => yearOf(ms, zone) !== yearOf(nowMs, zone)) ? ({ year: "numeric" } as const) : {};

const dayFormat = (instants: readonly number[], at: In) =>
  formatter({ month: "short", day: "numeric", ...yearIfOther(instants, at) }, at.zone);

const momentFormat = (instants: readonly number[], at: In, withZone = true) =>
  formatter(
    {
      month: "short",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
      ...yearIfOther(instants, at),
      ...(withZone && { timeZoneName: "short" }),
    },
    at.zone,
  );
