import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { QueryAnswer } from "#shared/report-query.ts";
import { instantOfDay } from "#shared/time-zone.ts";
import type { FrameSearch } from "../data/search.ts";
import { isoDay } from "./dates.ts";
import { isOpen } from "./window-words.ts";

/** To the records behind an answer's figures, once there is one. */
export function RecordsLink({ search, answer }: { search: FrameSearch; answer: QueryAnswer | undefined }) {
  const records = answer && recordSearch(search, answer);
  return (
    <Button
      {...{ size: "xs", className: "no-print", disabled: !records }}
      {...(records && { renderRoot: (props) => <Link to="/requests" search={records} {...props} /> })}
    >
      Records
    </Button>
  );
}

/** What the list of records can be narrowed by, to one value of each. */
const FILTERS = ["team", "client", "model", "route", "key", "channel", "tag", "session"];

const DAY_MS = 86_400_000;

/** A window as the list of records takes it: as days where they are those of UTC, else as instants. */
export function timesOf({ window: { from, to }, spec: { range } }: QueryAnswer): Record<string, string> {
  const isDay = (at: string | null) => at === null || Date.parse(at) % DAY_MS === 0;
  const last = to === null ? null : isDay(to) ? isoDay(Date.parse(to) - 1) : to;
  return {
    ...(from !== null && { from: isDay(from) ? isoDay(Date.parse(from)) : from }),
    // A window without an end is still open.
    ...(last !== null && !isOpen(range) && { to: last }),
  };
}

const instant = (ms: number): string => new Date(ms).toISOString();

/** A day of the zone. */
export const dayTimes = (day: string, zone: string): Record<string, string> =>
  zone === "UTC"
    ? { from: day, to: day }
    : {
        from: instant(instantOfDay(Date.parse(day), zone)),
        to: instant(instantOfDay(Date.parse(day) + DAY_MS, zone)),
      };

/** A person is the owner of the key, or a label of the application with the owner behind it. */
function personFilters(subject: string): Record<string, string> | null {
  const [, user, owner] = /^(.+) \((.+)\)$/.exec(subject) ?? [];
  if (user !== undefined && owner !== undefined) return { user, owner };
  return subject === "service account" || subject === "(none)" ? null : { owner: subject };
}

/** One filter of a report as the list of records has it; null: it has none of the kind. */
function recordFilter(name: string, value: string, zone: string): Record<string, string> | null {
  if (name === "subject") return personFilters(value);
  if (name === "day") return dayTimes(value, zone);
  return FILTERS.includes(name) && value !== "(none)" ? { [name]: value } : null;
}

/** The records behind figures, as the list's address. It takes one value of each filter, so longer ones are left out. */
export function recordSearch(search: FrameSearch, answer: QueryAnswer): Record<string, string> {
  const { range: _, from: __, to: ___, compare: ____, ...filters } = search;
  const found = Object.entries(filters).map(([name, [value, ...others]]) =>
    value === undefined || others.length > 0 ? null : recordFilter(name, value, answer.time_zone),
  );
  return Object.assign({}, timesOf(answer), ...found);
}
