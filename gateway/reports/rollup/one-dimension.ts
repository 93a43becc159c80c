import type { DimensionName } from "#shared/report.ts";
import { asksForLane } from "../spec.ts";
import { type Context, ENTITIES, OF_DAY, reachesOf, type Section } from "./context.ts";
import { unitOf, whoOf } from "./distinct.ts";
import { LANE } from "./kinds.ts";
import { OVER_CELLS, partSql, usedSums } from "./parts.ts";
import { BUCKET_NAMES } from "./sums.ts";

/** What sums by one dimension add to a section; nothing where none are read. */
export function sumPartsOf(context: Context, section: Section): string[] {
  const known = { ...OVER_CELLS, active_hours: "sum(active_hours)", billed_hours: "sum(billed_hours)" };
  const columns = [...usedSums(context.columns), "session_cost_usd", "active_hours", "billed_hours"];
  return [
    ...sumsSql(context, section, columns).map((side) => partSql(context, section, known, side)),
    ...gapParts(context, section),
  ];
}

/** Their histograms by group. */
export const sumHistograms = (context: Context, section: Section): string[] =>
  sumsSql(context, section, BUCKET_NAMES);

/** The rows of whole days, and those of the hours behind them, of each window, with the groups that their days and values make. */
function sumsSql(context: Context, section: Section, columns: readonly string[]): string[] {
  const { ask, params } = context;
  const channel = ask.spec.filters.channel ?? [];
  const lane = asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'";
  return reachesOf(context.covers).flatMap(({ current, fromDay, toDay, toHour, span }) => {
    const filter = channel.length > 0 ? ` and r.channel = any(${params.add(channel, "text[]")})` : "";
    const select = `${current} as current, ${lane} as billed, ${columns.map((name) => `r.${name}`).join(", ")}`;
    const to = params.add(toDay, "date");
    const days = `r.day >= ${params.add(fromDay, "date")} and r.day < ${to}`;
    const whole = grouped(context, section, "rollup_days", select, days + filter);
    if (toHour === 0) return [whole];
    const hours = `r.hour >= ${params.add(`${toDay}T00:00:00Z`, "timestamptz")} and r.hour < ${params.instant(span.toMs)}`;
    const hourly = `(select h.*, (h.hour at time zone 'UTC')::date as day from rollup_hourly h)`;
    return [whole, grouped(context, section, hourly, select, hours + filter)];
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
  const which = `r.entity in (${entities.map((entity) => `'${entity}'`).join(", ")}) and r.lane in (${lanes.map((lane) => LANE[lane]).join(", ")}) and r.n <> 0`;
  const counts = entities.flatMap((entity) =>
    lanes.map((lane) => [
      ENTITIES[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return reachesOf(context.covers).flatMap(({ current, fromDay, toDay, toHour }) => {
    const from = params.add(fromDay, "date");
    const to = params.add(toDay, "date");
    const part = (table: string, when: string) => {
      const where = `${which} and ${when} and r.previous < ${start(from)}`;
      const rows = grouped(context, section, table, `${current} as current, r.entity, r.lane, r.n`, where);
      return partSql(context, section, Object.fromEntries(counts), rows);
    };
    const days = part("rollup_gaps", `r.day >= ${from} and r.day < ${to}`);
    if (toHour === 0) return [days];
    const hour = params.add(String(toHour), "int");
    return [days, part("rollup_gap_hours", `r.day = ${to} and r.hour < ${hour}`)];
  });
}
