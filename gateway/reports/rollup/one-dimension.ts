import type { DimensionName } from "#shared/report.ts";
import { asksForLane } from "../spec.ts";
import {
  type Context,
  ENTITIES,
  type Entity,
  OF_DAY,
  type Reach,
  reachesOf,
  type Section,
} from "./context.ts";
import { LANE } from "./kinds.ts";
import { OVER_CELLS, partSql, unitOf } from "./parts.ts";
import { BUCKET_NAMES, SUM_NAMES } from "./sums.ts";

/** What sums by one dimension add to a section; nothing where none are read. */
export function sumPartsOf(context: Context, section: Section): string[] {
  const reaches = reachesOf(context.covers);
  if (reaches.length === 0) return [];
  const counted = context.entities.filter((entity) => entity !== "hour");
  return [
    partSql(
      context,
      section,
      { ...OVER_CELLS, active_hours: "sum(active_hours)", billed_hours: "sum(billed_hours)" },
      sumsSql(context, section, [...SUM_NAMES, "session_cost_usd", "active_hours", "billed_hours"]),
    ),
    ...(counted.length > 0 ? [gapsPart(context, section, counted, reaches)] : []),
  ];
}

/** Their histograms by group. */
export const sumHistograms = (context: Context, section: Section): string =>
  sumsSql(context, section, BUCKET_NAMES);

/** The rows of whole days, and those of the hours behind them, with the groups that their days and values make. */
function sumsSql(context: Context, section: Section, columns: readonly string[]): string {
  const { ask, params } = context;
  const channel = ask.spec.filters.channel ?? [];
  const filter = channel.length > 0 ? ` and r.channel = any(${params.add(channel, "text[]")})` : "";
  const lane = asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'";
  const select = (current: boolean) =>
    `${current} as current, ${lane} as billed, ${columns.map((name) => `r.${name}`).join(", ")}`;
  const sides = reachesOf(context.covers).flatMap((reach) => {
    const { current, fromDay, toDay, toHour } = reach;
    const to = params.add(toDay, "date");
    const days = `r.day >= ${params.add(fromDay, "date")} and r.day < ${to}`;
    const whole = grouped(context, section, "rollup_days", select(current), days + filter);
    if (toHour === 0) return [whole];
    const hours = `r.hour >= ${params.add(`${toDay}T00:00:00Z`, "timestamptz")} and r.hour < ${params.instant(reach.span.toMs)}`;
    const hourly = `(select h.*, (h.hour at time zone 'UTC')::date as day from rollup_hourly h)`;
    return [whole, grouped(context, section, hourly, select(current), hours + filter)];
  });
  return `(${sides.join("\n    union all")}
  ) r`;
}

/** Rows `r` of a table with `day` and `value`, and the groups that these make. */
function grouped(context: Context, section: Section, table: string, select: string, where: string): string {
  const { ask, params } = context;
  const { dimensions } = section;
  const kind = section.kind ?? "total";
  const [d1 = "''", d2 = "''"] = dimensions.map(groupOf);
  const keys = kind === "key" ? "\n    left join keys k on k.org_id = r.org_id and k.id = r.value::uuid" : "";
  return `
    select (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2, ${select}
    from ${table} r${keys}
    where r.org_id = ${params.add(ask.orgId, "text")} and r.kind = '${kind}' and ${where}`;
}

const groupOf = (name: DimensionName): string =>
  OF_DAY[name] ?? (name === "key" ? "coalesce(k.name, r.value)" : "r.value");

/** Persons and sessions whose last active day lies before the span, or before their group where that is a time. */
function gapsPart(
  context: Context,
  section: Section,
  entities: readonly Entity[],
  reaches: readonly Reach[],
): string {
  const { params } = context;
  const lanes = (["all", "billed"] as const).filter((lane) =>
    entities.some((entity) => context.names.includes(ENTITIES[entity][lane])),
  );
  const { start } = unitOf(section, "r.day");
  const which = `r.entity in (${entities.map((entity) => `'${entity}'`).join(", ")}) and r.lane in (${lanes.map((lane) => LANE[lane]).join(", ")}) and r.n <> 0`;
  const sides = reaches.flatMap(({ current, fromDay, toDay, toHour }) => {
    const from = params.add(fromDay, "date");
    const to = params.add(toDay, "date");
    const first = `r.previous < ${start(from)}`;
    const select = `${current} as current, r.entity, r.lane, r.n`;
    return [
      grouped(
        context,
        section,
        "rollup_gaps",
        select,
        `${which} and r.day >= ${from} and r.day < ${to} and ${first}`,
      ),
      ...(toHour > 0
        ? [
            grouped(
              context,
              section,
              "rollup_gap_hours",
              select,
              `${which} and r.day = ${to} and r.hour < ${params.add(String(toHour), "int")} and ${first}`,
            ),
          ]
        : []),
    ];
  });
  const counts = entities.flatMap((entity) =>
    lanes.map((lane) => [
      ENTITIES[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return partSql(context, section, Object.fromEntries(counts), `(${sides.join("\n    union all")}\n  ) r`);
}
