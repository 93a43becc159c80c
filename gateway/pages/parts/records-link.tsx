import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { RangeName } from "#shared/report.ts";
import type { FilterName, FrameSearch } from "../data/search.ts";

/** To the records behind the figures. */
export function RecordsLink({ search, fallback }: { search: FrameSearch; fallback: RangeName }) {
  const records = recordSearch(search, fallback);
  return (
    <Button
      variant="default"
      size="xs"
      className="no-print"
      renderRoot={(props) => <Link to="/requests" search={records} {...props} />}
    >
      Records
    </Button>
  );
}

/** The list of records knows these by other names, and takes one value of each. */
const RECORD_FILTERS: Readonly<Partial<Record<FilterName, string>>> = {
  team: "team",
  client: "client",
  model: "model",
  route: "route",
  key: "key",
  channel: "channel",
  tag: "tag",
  session: "session",
};

const DAY_MS = 86_400_000;

/** The first moment of a named range, as reports have it. */
function fromOf(range: RangeName, nowMs: number): { from: string; to?: string } {
  const now = new Date(nowMs);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const month = (offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset);
  if (range === "mtd") return { from: day(month(0)) };
  if (range === "last_month") return { from: day(month(-1)), to: day(month(0) - DAY_MS) };
  return { from: day(nowMs - ((range === "7d" ? 7 : 30) - 1) * DAY_MS) };
}

/** A person is the owner of the key, or a label of the application with the owner behind it. */
function personFilters(subject: string): Record<string, string> | null {
  const [, user, owner] = /^(.+) \((.+)\)$/.exec(subject) ?? [];
  if (user !== undefined && owner !== undefined) return { user, owner };
  return subject === "service account" || subject === "(none)" ? null : { owner: subject };
}

/** One filter of a report as the list of records has it; null: it has none of the kind. */
function recordFilter(name: string, value: string): Record<string, string> | null {
  if (name === "subject") return personFilters(value);
  if (name === "day") return { from: value, to: value };
  // The rest of a search are filters.
  const known = RECORD_FILTERS[name as FilterName];
  return known && value !== "(none)" ? { [known]: value } : null;
}

/**
 * The records behind a report's figures, as an address of the list of records. That takes one value of each filter, so
 * filters with several are left out.
 */
function recordSearch(search: FrameSearch, fallback: RangeName, nowMs = Date.now()): Record<string, string> {
  const { range, from, to, compare: _, ...filters } = search;
  const isOwn = from !== undefined || to !== undefined;
  const times = isOwn ? { ...(from && { from }), ...(to && { to }) } : fromOf(range ?? fallback, nowMs);
  const found = Object.entries(filters).map(([name, [value, ...others]]) =>
    value === undefined || others.length > 0 ? null : recordFilter(name, value),
  );
  return Object.assign({}, times, ...found);
}
