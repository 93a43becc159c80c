import type { DimensionName } from "#shared/report.ts";
import { dimensionOf } from "../dimensions.ts";

/**
 * The dimensions by which hours and days are summed up, and all in all: those of the built-in reports and of the Overview, and
 * cost centres, of which coverage reads the first record.
 */
export const KINDS = ["total", "client", "model", "route", "subject", "team", "cost_center"] as const;
export type Kind = (typeof KINDS)[number];
export const isKind = (name: string): name is Kind => KINDS.some((kind) => kind === name);

/** The value of a kind over a cell `r` and one of its tags `t`. */
export const valueSql = (kind: Kind): string => (kind === "total" ? "''::text" : (kindOf(kind) ?? "null"));
const kindOf = (name: DimensionName): string | undefined => dimensionOf(name).sums;

/** Who made a row whose columns have `prefix`: null for a service account. */
export const personSql = (prefix: string): string => `coalesce(${prefix}user_label, ${prefix}owner)`;
/** Whether such a row is billed: not in the subscription lane. */
export const billedSql = (prefix: string): string => `${prefix}channel <> 'subscription'`;

/** Lanes in which persons and sessions are counted: all records, and those that are billed. */
export const LANE = { all: 1, billed: 2 } as const;
export type Lane = keyof typeof LANE;

/** Each distinct count, by what is counted and the lane. */
export const COUNTS = {
  person: { all: "users", billed: "billed_users" },
  session: { all: "sessions", billed: "billed_sessions" },
} as const satisfies Record<string, Record<Lane, string>>;
export type Counted = keyof typeof COUNTS;
const LANES = Object.keys(LANE) as Lane[];

/**
 * What is counted distinctly by kind, as `rollup_distinct_deltas` keeps it: what built-in reports, the Overview and usual saved
 * reports ask (decision: Few counts are kept). A subject is one person, or none.
 */
const COUNTED: Record<Kind, Partial<Record<Counted, readonly Lane[]>>> = {
  total: { person: LANES, session: LANES },
  client: { person: LANES },
  model: { person: ["all"] },
  route: { person: ["all"] },
  subject: { session: ["all"] },
  team: { person: LANES },
  cost_center: {},
};
export const countedBy = (kind: Kind): Counted[] => Object.keys(COUNTED[kind]) as Counted[];

/** Whether sums by a kind have a distinct count, by its name. */
export const isCountedBy = (kind: Kind, name: string): boolean =>
  countedBy(kind).some((entity) => COUNTED[kind][entity]?.some((lane) => COUNTS[entity][lane] === name));

/** Each entity, kind and lane that is counted, as rows of SQL. */
export const COUNTED_ROWS = KINDS.flatMap((kind) =>
  countedBy(kind).flatMap((entity) =>
    (COUNTED[kind][entity] ?? []).map((lane) => `('${entity}', '${kind}', ${LANE[lane]})`),
  ),
).join(", ");

/** Of all records, whatever their team. */
export const EVERYTHING = "";
/** Joins a row for each scope of a cell `r`: all records, its team, and the teams above that. */
export const SCOPE_ROWS = `cross join lateral unnest(array_prepend('${EVERYTHING}', r.teams)) as o(scope)`;

/** A person within a value of a kind and a scope, as `rollup_active_days` keeps it. */
type Member = { entity: string; kind: string; scope: string; value: string; text: string };
export const whoSql = ({ entity, kind, scope, value, text }: Member): string => {
  const within = `case when ${scope} = '${EVERYTHING}' then '' else ':' || ${scope} end`;
  return `md5(${entity} || chr(31) || ${kind} || ${within} || chr(31) || (${value}) || chr(31) || (${text}))::uuid`;
};

/** The hour of an instant as a set of hours (bit 0 is the first). */
export const hourBit = (column: string): string =>
  `1 << extract(hour from ${column} at time zone 'UTC')::int`;

/** The start of the quarter of an hour (UTC) in which an instant lies. */
export const quarterSql = (instant: string): string =>
  `date_bin('15 minutes', ${instant}, timestamptz '2000-01-01T00:00:00Z')`;
