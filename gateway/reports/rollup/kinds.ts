import type { DimensionName } from "#shared/report.ts";
import { dimensionOf } from "../dimensions.ts";

/** Dimensions with sums of hours and days: all built-in reports', the Overview's, and cost centres (for coverage). */
export const KINDS = ["total", "client", "model", "route", "subject", "team", "cost_center"] as const;
export type Kind = (typeof KINDS)[number];
/** Those that search, lists and anomalies read as well: they are made beside ClickHouse, too. */
export const FEW_KINDS = ["total", "model", "route"] as const satisfies readonly Kind[];
export const isKind = (name: string): name is Kind => KINDS.some((kind) => kind === name);

/** Whether hours have sums of it. Persons are nearly as many in an hour as its cells. */
export const hasHours = (kind: Kind): boolean => kind !== "subject";

/** The value of a kind over a cell `r` and one of its tags `t`. */
export const valueSql = (kind: Kind): string => (kind === "total" ? "''::text" : (kindOf(kind) ?? "null"));
const kindOf = (name: DimensionName): string | undefined => dimensionOf(name).sums;

/** Who made a row whose columns have `prefix`: null for a service account. */
export const personSql = (prefix: string): string => `coalesce(${prefix}user_label, ${prefix}owner)`;
/** Whether such a row is billed: not in the subscription lane. */
export const billedSql = (prefix: string): string => `${prefix}channel <> 'subscription'`;

/** Each distinct count, of all records and of those that are billed. */
export const COUNTS = {
  person: { all: "users", billed: "billed_users" },
  session: { all: "sessions", billed: "billed_sessions" },
} as const;
export type Counted = keyof typeof COUNTS;

/** What sums by each kind count distinctly. A subject is one person, or none; cells of days know no model and no route. */
const COUNTED: Record<Kind, readonly Counted[]> = {
  total: ["person", "session"],
  client: ["person", "session"],
  model: ["person"],
  route: ["person"],
  subject: ["session"],
  team: ["person", "session"],
  cost_center: [],
};
export const isCountedBy = (kind: Kind, counted: Counted): boolean => COUNTED[kind].includes(counted);

export const EVERYTHING = "";
/** Joins a row for each scope of a cell `r`: all records, its team, and the teams above that. */
export const SCOPE_ROWS = `cross join lateral unnest(array_prepend('${EVERYTHING}', r.teams)) as o(scope)`;

/** The hour of an instant as a set of hours (bit 0 is the first). */
export const hourBit = (column: string): string =>
  `1 << extract(hour from ${column} at time zone 'UTC')::int`;

/** The start of the quarter of an hour (UTC) in which an instant lies. */
export const quarterSql = (instant: string): string =>
  `date_bin('15 minutes', ${instant}, timestamptz '2000-01-01T00:00:00Z')`;
