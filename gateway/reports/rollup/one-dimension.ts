import type { DimensionName } from "#shared/report.ts";
import { namedIn } from "../measures.ts";
import type { Parameters } from "../parameters.ts";
import { asksForLane } from "../spec.ts";
import {
  type Context,
  countsOf,
  dayOf,
  ENTITIES,
  isTimely,
  OF_DAY,
  type Reach,
  reachesOf,
  type Section,
} from "./context.ts";
import { DAY_MS, down } from "./cover.ts";
import { unitOf, whoOf } from "./distinct.ts";
import { billedSql, LANE } from "./kinds.ts";
import { lastHourOf } from "./last-hours.ts";
import { OVER_CELLS, partSql } from "./parts.ts";
import { boundsSql } from "./spans.ts";
import { SUM_NAMES } from "./sums.ts";

/** What sums by one dimension add to a section; nothing where none are read. */
export function sumPartsOf(context: Context, section: Section): string[] {
  return [
    ...sumParts(context, section),
    ...gapParts(context, section),
    ...(context.entities.includes("hour") ? hourParts(context, section) : []),
  ];
}

/** What sums of hours have, and those of their quarters have not: who was active is told of hours by their cells. */
const OF_HOURS: readonly string[] = ["active_hours", "billed_hours"];

/** What is read of a row `r` of sums, beside its group. */
const OF_SUMS: readonly string[] = [...SUM_NAMES, "session_cost_usd", ...OF_HOURS, "billed"];

type Tables = {
  weeks: string;
  days: string;
  /** The rows of what is left behind the days. */
  rest: (params: Parameters, reach: Reach) => Rows[];
  /** What a row's columns are, where they are not columns of its table. */
  known: Readonly<Record<string, string>>;
  /** Which rows `t` are read, by what their day is. */
  where: (day: string) => string;
};

/** Rows `t` of a table. */
type Rows = { table: string; day: string; where: string; known?: Readonly<Record<string, string>> };

/** Of hours, and of quarters of the hour that the window cuts: sums may end days before it, at an hour that changed. */
function sumsOfLastDay(params: Parameters, { toDay, span, quarters }: Reach): Rows[] {
  const day = `date '${toDay}'`;
  const midnight = down(DAY_MS, span.toMs);
  const hours = { fromMs: midnight, toMs: span.toMs };
  const known = Object.fromEntries(OF_HOURS.map((name) => [name, "0"]));
  return [
    ...(midnight < span.toMs
      ? [{ table: "rollup_hourly", day, where: boundsSql("t.hour", hours, params) }]
      : []),
    ...(quarters
      ? [
          {
            table: "rollup_quarters",
            day: `date '${dayOf(quarters.fromMs)}'`,
            where: boundsSql("t.at", quarters, params),
            known,
          },
        ]
      : []),
  ];
}

/** Who was active on the last day before the window ends: those who were first before. */
function gapsOfLastDay(params: Parameters, { toDay, endMs }: Reach): Rows[] {
  const ms = endMs - down(DAY_MS, endMs);
  if (ms === 0) return [];
  const day = `date '${toDay}'`;
  const n = `width_bucket(${params.add(String(ms - 1), "int")}, t.firsts)`;
  return [{ table: "rollup_gaps", day, where: `t.day = ${day}`, known: { n } }];
}

/** Those of a reach's weeks, of the days that these leave, and of what is left behind them; a week's `day` is its Monday. */
function rowsOf({ params }: Context, { dimensions }: Section, reach: Reach, tables: Tables): Rows[] {
  const { fromDay, toDay } = reach;
  // No week where a row is of less than one.
  const weeks = dimensions.some((name) => name === "day" || name === "month") ? null : reach.weeks;
  const between = (table: string, column: string, from: string, to: string): Rows[] => {
    const day = `t.${column}`;
    if (from >= to) return [];
    const where = `${day} >= ${params.add(from, "date")} and ${day} < ${params.add(to, "date")}`;
    return [{ table, day, where }];
  };
  // Each span by itself: the server would read all that lies between two.
  return [
    ...(weeks ? between(tables.weeks, "week", weeks.fromDay, weeks.toDay) : []),
    ...between(tables.days, "day", fromDay, weeks?.fromDay ?? toDay),
    ...(weeks ? between(tables.days, "day", weeks.toDay, toDay) : []),
    ...tables.rest(params, reach),
  ];
}

/**
 * The rows of a reach with the groups that they make, as `sums` of them need them: each branch has what is used and
 * nothing else, in that order, or the server would copy every row once more.
 */
function groupedSql(
  context: Context,
  section: Section,
  reach: Reach,
  tables: Tables,
  columns: readonly string[],
): string {
  const { ask, params } = context;
  const { dimensions } = section;
  const kind = section.kind ?? "total";
  const places = [...new Set(dimensions.map((name) => (isTimely(name) ? "day" : "value")))];
  const org = params.add(ask.orgId, "text");
  const branches = rowsOf(context, section, reach, tables).map(({ table, day, where, known = {} }) => {
    const all: Readonly<Record<string, string>> = { day, ...tables.known, ...known };
    const told = [...places, ...columns].map((name) => `${all[name] ?? `t.${name}`} as ${name}`);
    return `select ${told.join(", ") || "1"} from ${table} t where t.org_id = ${org} and t.kind = '${kind}' and ${where}${tables.where(day)}`;
  });
  return groupsSql(context, section, reach, branches, columns);
}

/** Rows `r` with `day` and `value`, where a section needs these, and the groups that they make. */
function groupsSql(
  { ask, params }: Context,
  { dimensions }: Section,
  { current }: Reach,
  branches: readonly string[],
  columns: readonly string[],
): string {
  const [d1 = "''", d2 = "''"] = dimensions.map(groupOf);
  const keys = dimensions.includes("key")
    ? `\n    left join keys k on k.org_id = ${params.add(ask.orgId, "text")} and k.id = r.value::uuid`
    : "";
  return `(
    select (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2, ${[`${current} as current`, ...columns.map((name) => `r.${name}`)].join(", ")}
    from (${branches.join("\n      union all ")}
    ) r${keys}
  ) r`;
}

const groupOf = (name: DimensionName): string =>
  OF_DAY[name] ?? (name === "key" ? "coalesce(k.name, r.value)" : "r.value");

/** The sums of each window's reach. */
function sumParts(context: Context, section: Section): string[] {
  const { ask, params, columns } = context;
  const channel = ask.spec.filters.channel ?? [];
  const known = { ...OVER_CELLS, active_hours: "sum(active_hours)", billed_hours: "sum(billed_hours)" };
  const sums = [...columns, ...countsOf(context)].flatMap((name) => known[name as keyof typeof known] ?? []);
  const tables: Tables = {
    weeks: "rollup_weeks",
    days: "rollup_days",
    rest: sumsOfLastDay,
    known: {
      billed: asksForLane(ask.spec) ? "true" : billedSql("t."),
    },
    where: () => (channel.length > 0 ? ` and t.channel = any(${params.add(channel, "text[]")})` : ""),
  };
  return reachesOf(context).map((reach) =>
    partSql(context, section, known, groupedSql(context, section, reach, tables, namedIn(sums, OF_SUMS))),
  );
}

/** Persons and sessions whose last active day lies before the span, or before their group where that is a time. */
function gapParts(context: Context, section: Section): string[] {
  const { params, names } = context;
  const entities = whoOf(context);
  if (entities.length === 0) return [];
  const lanes = (["all", "billed"] as const).filter((lane) =>
    entities.some((entity) => names.includes(ENTITIES[entity][lane])),
  );
  const which = ` and t.entity in (${entities.map((entity) => `'${entity}'`).join(", ")}) and t.lane in (${lanes.map((lane) => LANE[lane]).join(", ")})`;
  const isOne = entities.length === 1 && lanes.length === 1;
  const counts = entities.flatMap((entity) =>
    lanes.map((lane): [name: string, sql: string] => [
      ENTITIES[entity][lane],
      isOne ? "sum(n)" : `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  const columns = isOne ? ["n"] : ["n", "entity", "lane"];
  return reachesOf(context).map((reach) => {
    const from = params.add(reach.fromDay, "date");
    const tables: Tables = {
      weeks: "rollup_gap_weeks",
      days: "rollup_gaps",
      rest: gapsOfLastDay,
      known: {},
      where: (day) => `${which} and t.previous < ${unitOf(section, day).start(from)}`,
    };
    return partSql(
      context,
      section,
      Object.fromEntries(counts),
      groupedSql(context, section, reach, tables, columns),
    );
  });
}

/** Sessions that were active in the hour that a window cuts, before it ends. */
function hourParts(context: Context, section: Section): string[] {
  const known = { active_hours: "count(*)", billed_hours: "count(*) filter (where billed)" };
  return reachesOf(context).flatMap((reach) => {
    if (!reach.told) return [];
    const rows = `select date '${reach.toDay}' as day, h.value, h.billed from ${lastHourOf(context, section, reach.current)} h`;
    return [partSql(context, section, known, groupsSql(context, section, reach, [rows], ["billed"]))];
  });
}
