import type { DimensionName } from "#shared/report.ts";
import type { Parameters } from "../parameters.ts";
import { asksForLane } from "../spec.ts";
import { type Context, ENTITIES, OF_DAY, type Reach, reachesOf, type Section } from "./context.ts";
import { DAY_MS, down } from "./cover.ts";
import { unitOf, whoOf } from "./distinct.ts";
import { LANE } from "./kinds.ts";
import { lastHourOf } from "./last-hours.ts";
import { LATENCIES } from "./latencies.ts";
import { OVER_CELLS, partSql, usedSums } from "./parts.ts";
import { boundsSql } from "./spans.ts";

/** What sums by one dimension add to a section; nothing where none are read. */
export function sumPartsOf(context: Context, section: Section): string[] {
  const known = { ...OVER_CELLS, active_hours: "sum(active_hours)", billed_hours: "sum(billed_hours)" };
  const columns = [...usedSums(context.columns), "session_cost_usd", "active_hours", "billed_hours"];
  return [
    ...sumsSql(context, section, columns).map((side) => partSql(context, section, known, side)),
    ...gapParts(context, section),
    ...(context.entities.includes("hour") ? hourParts(context, section) : []),
  ];
}

/** What sums of hours have, and those of their quarters have not: who was active is told of hours by their cells. */
const OF_HOURS: readonly string[] = ["active_hours", "billed_hours"];

type Tables = {
  weeks: string;
  days: string;
  /** The rows of what is left behind the days. */
  rest: (params: Parameters, reach: Reach, own: Own) => string[];
};

const SUMS: Tables = { weeks: "rollup_weeks", days: "rollup_days", rest: sumsOfLastDay };
const GAPS: Tables = { weeks: "rollup_gap_weeks", days: "rollup_gaps", rest: gapsOfLastDay };

/** What is read of a row `t`, but for what is `known` of it otherwise. */
type Own = (known?: Readonly<Record<string, string>>) => string;

/** Of hours, and of quarters of the hour that the window cuts. */
function sumsOfLastDay(params: Parameters, { toDay, span, quarters }: Reach, own: Own): string[] {
  const day = () => `${params.add(toDay, "date")} as day`;
  const midnight = down(DAY_MS, span.toMs);
  const hours = { fromMs: midnight, toMs: span.toMs };
  const nothing = Object.fromEntries(OF_HOURS.map((name) => [name, "0"]));
  return [
    ...(midnight < span.toMs
      ? [`select ${day()}, ${own()} from rollup_hourly t where ${boundsSql("t.hour", hours, params)}`]
      : []),
    ...(quarters
      ? [
          `select ${day()}, ${own(nothing)} from rollup_quarters t where ${boundsSql("t.at", quarters, params)}`,
        ]
      : []),
  ];
}

/** Who was active on the last day before the window ends: those who were first before. */
function gapsOfLastDay(params: Parameters, { toDay, endMs }: Reach, own: Own): string[] {
  const ms = endMs - down(DAY_MS, endMs);
  if (ms === 0) return [];
  const day = params.add(toDay, "date");
  const n = `width_bucket(${params.add(String(ms - 1), "int")}, t.firsts)`;
  return [`select ${day} as day, ${own({ n })} from rollup_gaps t where t.day = ${day}`];
}

/** The rows of a reach's weeks, of the days that these leave, and of what is left behind them; a week's `day` is its Monday. */
function rowsOf(
  { params, isPacked }: Context,
  { dimensions }: Section,
  reach: Reach,
  { columns, ...tables }: Tables & { columns: readonly string[] },
): string {
  const { fromDay, toDay } = reach;
  // No week where a row is of less than one.
  const weeks = dimensions.some((name) => name === "day" || name === "month") ? null : reach.weeks;
  const names = ["org_id", "kind", "value", ...columns];
  const packed = isPacked ? {} : { latencies: LATENCIES };
  const own: Own = (known = {}) => {
    const all: Readonly<Record<string, string>> = { ...packed, ...known };
    return names.map((name) => (name in all ? `${all[name]} as ${name}` : `t.${name}`)).join(", ");
  };
  const between = (table: string, column: string, from: string, to: string) =>
    from < to
      ? [
          `select t.${column} as day, ${own()} from ${table} t where t.${column} >= ${params.add(from, "date")} and t.${column} < ${params.add(to, "date")}`,
        ]
      : [];
  // Each span by itself: the server would read all that lies between two.
  const parts = [
    ...(weeks ? between(tables.weeks, "week", weeks.fromDay, weeks.toDay) : []),
    ...between(tables.days, "day", fromDay, weeks?.fromDay ?? toDay),
    ...(weeks ? between(tables.days, "day", weeks.toDay, toDay) : []),
    ...tables.rest(params, reach, own),
  ];
  return `(${parts.join("\n      union all ")}\n    )`;
}

/** The rows of each window's reach, with the groups that they make. */
function sumsSql(context: Context, section: Section, columns: readonly string[]): string[] {
  const { ask, params } = context;
  const channel = ask.spec.filters.channel ?? [];
  const lane = asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'";
  return reachesOf(context).map((reach) => {
    const filter = channel.length > 0 ? `r.channel = any(${params.add(channel, "text[]")})` : "true";
    const select = `${reach.current} as current, ${lane} as billed, ${columns.map((name) => `r.${name}`).join(", ")}`;
    const rows = rowsOf(context, section, reach, { ...SUMS, columns: ["channel", ...columns] });
    return grouped(context, section, rows, select, filter);
  });
}

/** Rows `r` of a table with `day` and `value`, and the groups that these make. */
function grouped(context: Context, section: Section, table: string, select: string, where: string): string {
  const { ask, params } = context;
  const { dimensions } = section;
  const kind = section.kind ?? "total";
  const [d1 = "''", d2 = "''"] = dimensions.map(groupOf);
  const keys = kind === "key" ? "\n    left join keys k on k.org_id = r.org_id and k.id = r.value::uuid" : "";
  return `(
    select (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2, ${select}
    from ${table} r${keys}
    where r.org_id = ${params.add(ask.orgId, "text")} and r.kind = '${kind}' and ${where}
  ) r`;
}

const groupOf = (name: DimensionName): string =>
  OF_DAY[name] ?? (name === "key" ? "coalesce(k.name, r.value)" : "r.value");

/** Persons and sessions whose last active day lies before the span, or before their group where that is a time. */
function gapParts(context: Context, section: Section): string[] {
  const { params, names } = context;
  const entities = whoOf(context);
  if (entities.length === 0) return [];
  const lanes = (["all", "billed"] as const).filter((lane) =>
    entities.some((entity) => names.includes(ENTITIES[entity][lane])),
  );
  const { start } = unitOf(section, "r.day");
  const which = `r.entity in (${entities.map((entity) => `'${entity}'`).join(", ")}) and r.lane in (${lanes.map((lane) => LANE[lane]).join(", ")})`;
  const counts = entities.flatMap((entity) =>
    lanes.map((lane) => [
      ENTITIES[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return reachesOf(context).map((reach) => {
    const rows = rowsOf(context, section, reach, { ...GAPS, columns: ["entity", "lane", "previous", "n"] });
    const select = `${reach.current} as current, r.entity, r.lane, r.n`;
    const where = `${which} and r.previous < ${start(params.add(reach.fromDay, "date"))}`;
    return partSql(
      context,
      section,
      Object.fromEntries(counts),
      grouped(context, section, rows, select, where),
    );
  });
}

/** Sessions that were active in the hour that a window cuts, before it ends. */
function hourParts(context: Context, section: Section): string[] {
  const { ask, params } = context;
  const known = { active_hours: "count(*)", billed_hours: "count(*) filter (where billed)" };
  return reachesOf(context).flatMap(({ current, toDay, told }) => {
    if (!told) return [];
    const rows = `(
      select ${params.add(toDay, "date")} as day, ${params.add(ask.orgId, "text")} as org_id, '${section.kind ?? "total"}' as kind,
        h.value, h.billed
      from ${lastHourOf(context, section, current)} h
    )`;
    const select = `${current} as current, r.billed`;
    return [partSql(context, section, known, grouped(context, section, rows, select, "true"))];
  });
}
