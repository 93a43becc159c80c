import { type AggregateName, aggregateOf, namedIn } from "../aggregates.ts";
import { type Context, groupTexts, type Section } from "../context.ts";
import { dimensionOf, intervalOf, isFilteredByText, isTime } from "../dimensions.ts";
import type { Parameters } from "../parameters.ts";
import { asksForLane } from "../spec.ts";
import { HOUR_MS, type SumsSpan } from "./cover.ts";
import { billedSql, COUNTS, type Counted, type Kind, LANE, type Lane } from "./kinds.ts";
import { dayOf, sumsSql } from "./spans.ts";
import { SUM_NAMES } from "./sums.ts";

/** Aggregates by name, and the table whose rows they are made of. */
export type SumsPart = { from: string; figures: Readonly<Partial<Record<AggregateName, string>>> };

/** The sums of a window: days from `fromDay` to before `toDay`, and of that day the hours before `toHour` (to `endMs`). */
export type WindowSums = SumsSpan & { current: boolean; fromDay: string; toDay: string; toHour: number };

export function windowSums({ covers: { current, previous } }: Pick<Context, "covers">): WindowSums[] {
  const sides = [
    { isCurrent: true, sums: current.sums },
    { isCurrent: false, sums: previous?.sums ?? null },
  ];
  return sides.flatMap(({ isCurrent, sums }) => {
    // Before the first day there is nothing.
    if (!sums || sums.fromMs === sums.endMs) return [];
    const toHour = Math.ceil((sums.endMs - sums.midnightMs) / HOUR_MS);
    const [fromDay, toDay] = [dayOf(sums.fromMs), dayOf(sums.midnightMs)];
    return [{ ...sums, current: isCurrent, fromDay, toDay, toHour }];
  });
}

const LANES = Object.keys(LANE) as Lane[];

/** The kind whose rows make up a section: of a total, and of groups of times alone, those of all in all. */
export const kindOf = ({ kind }: Context, { dimensions }: Pick<Section, "dimensions">): Kind =>
  kind !== null && dimensions.some((name) => name === kind) ? kind : "total";

/** Aggregates of all channels and values together: over other groups they do not add up. */
const TOGETHER: readonly AggregateName[] = ["active_hours", "billed_hours", "sessions", "billed_sessions"];
export const isTogether = (name: string): boolean => TOGETHER.some((together) => together === name);

/** The `names` of a section as sums by one dimension have them; null where these say nothing of them. */
export function sumRows(
  context: Context,
  section: Section,
  names: readonly AggregateName[],
): (SumsPart & { columns: readonly string[] }) | null {
  const { ask, params, scope } = context;
  const windows = windowSums(context).filter(({ fromMs, toMs }) => fromMs < toMs);
  const figures = Object.fromEntries(
    names.flatMap((name): [AggregateName, string][] => {
      const sql = isTogether(name) ? `sum(${name})` : aggregateOf(name).cells;
      return sql ? [[name, sql]] : [];
    }),
  );
  if (context.kind === null || windows.length === 0 || Object.keys(figures).length === 0) return null;
  const summed = namedIn(Object.values(figures), [...SUM_NAMES, "session_cost_usd", ...TOGETHER]);
  const columns = [
    "t.current",
    "t.value",
    "(t.at at time zone 'UTC')::date as day",
    `${asksForLane(ask.spec) ? "true" : billedSql("t.")} as billed`,
    ...summed.map((name) => `t.${name}`),
  ];
  const anyOf = (column: string, values: readonly string[] = []) =>
    values.length > 0 ? ` and t.${column} = any(${params.add(values, "text[]")})` : "";
  const { filters } = ask.spec;
  const values = context.kind !== "total" && isFilteredByText(context.kind) ? filters[context.kind] : [];
  const chosen = anyOf("channel", filters.channel) + anyOf("value", values);
  const rows = windows.flatMap((sums) =>
    sumsSql(sums, params).map(
      (where) => `select ${sums.current} as current, * from rollup_sums where ${where}`,
    ),
  );
  const from = grouped(
    context,
    section,
    `
      select ${columns.join(", ")}
      from (${rows.join("\n        union all ")}) t
      where t.org_id = ${params.add(ask.orgId, "text")} and t.kind = '${kindOf(context, section)}'
        and t.scope = ${params.add(scope, "text")}${chosen}`,
  );
  return { from, figures, columns: summed };
}

/**
 * Persons whose last active day lies before the window, or before their group where that is a time, and sessions likewise.
 * Of the last day those count who were active first before the window ends. Sessions of whole days are sums of days: those
 * are taken away that were active in the window before. They are few, for sessions are short.
 */
export function deltasPart(context: Context, section: Section): SumsPart | null {
  const { ask, params, names, scope } = context;
  const windows = windowSums(context);
  const wanted = (Object.keys(COUNTS) as Counted[]).flatMap((entity) =>
    LANES.flatMap((lane) => (names.includes(COUNTS[entity][lane]) ? [{ entity, lane }] : [])),
  );
  if (context.kind === null || windows.length === 0 || wanted.length === 0) return null;
  const lanes = [...new Set(wanted.map(({ lane }) => LANE[lane]))].join(", ");
  const entities = [...new Set(wanted.map(({ entity }) => entity))];
  const cases = windows.flatMap((sums) => cutDay(sums, params));
  const fromDay = windows.find(({ current }) => current)?.fromDay;
  // The index takes one range of days, but not alternatives: with these alone, the days of all years would be read.
  const days = windows.flatMap((sums) => [sums.fromDay, sums.toDay]).sort();
  const range = `t.day between ${params.add(days[0] ?? "", "date")} and ${params.add(days.at(-1) ?? "", "date")}`;
  // Not a parameter: the driver reads a date's value as a day.
  const currentFrom = fromDay === undefined ? "'infinity'::date" : params.add(fromDay, "date");
  const rows = `
      select t.day >= ${currentFrom} as current, t.value, t.day, t.entity, t.lane,
        case ${cases.join(" ")} when t.entity = 'session' then -t.n else t.n end as n
      from rollup_distinct_deltas t
      where t.org_id = ${params.add(ask.orgId, "text")} and t.kind = '${kindOf(context, section)}' and t.lane in (${lanes})
        and t.scope = ${params.add(scope, "text")} and ${range}
        and (${windows.map((sums) => deltasOf(section, { entities, sums, params })).join("\n        or ")})`;
  const figures = Object.fromEntries(
    wanted.map(({ entity, lane }) => [
      COUNTS[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return { from: grouped(context, section, rows), figures };
}

const isCut = ({ midnightMs, endMs }: SumsSpan): boolean => endMs > midnightMs;

/** Of the day that a window cuts, those who were active first before its end. */
const cutDay = (sums: WindowSums, params: Parameters): string[] =>
  isCut(sums)
    ? [
        `when t.day = ${params.add(sums.toDay, "date")} then width_bucket(${sums.endMs - sums.midnightMs - 1}, t.firsts)`,
      ]
    : [];

/** Which rows of deltas count in a window: those of whole days, and those of a last day that it cuts. */
function deltasOf(
  section: Section,
  { entities, sums, params }: { entities: readonly Counted[]; sums: WindowSums; params: Parameters },
): string {
  const [from, to] = [params.add(sums.fromDay, "date"), params.add(sums.toDay, "date")];
  const since = unitOf(section, "t.day").start(from);
  const whole = `t.day >= ${from} and t.day < ${to}`;
  // The index knows the window, but not groups of times.
  const again = `t.previous >= ${from}${since === from ? "" : ` and t.previous >= ${since}`}`;
  const which = {
    person: `t.entity = 'person' and ${whole} and t.previous < ${since}`,
    session: `t.entity = 'session' and ${whole} and ${again}`,
  };
  const of = entities.map((entity) => `'${entity}'`).join(", ");
  const last = isCut(sums) ? [`t.entity in (${of}) and t.day = ${to} and t.previous < ${since}`] : [];
  return [...entities.map((entity) => which[entity]), ...last].join("\n        or ");
}

/** Rows `r` of sums with the groups that they make. */
function grouped({ ask, params }: Context, { dimensions }: Section, rows: string): string {
  const groups = groupTexts(dimensions.map((name) => dimensionOf(name).label ?? "r.value")).map(
    (text, i) => `(${text})::text collate "C" as d${i + 1}`,
  );
  const keys = dimensions.includes("key")
    ? `\n    left join keys k on k.org_id = ${params.add(ask.orgId, "text")} and k.id = r.value::uuid`
    : "";
  if (dimensions.length === 0) return `(${rows}\n  ) r`;
  return `(
    select r.*, ${groups.join(", ")} from (${rows}
    ) r${keys}
  ) r`;
}

/** The first of the days that a row of `day` shares with its group, not before `from`, and the first after them, if any. */
export const unitOf = ({ dimensions }: Pick<Section, "dimensions">, day: string) => {
  const units = dimensions.filter(isTime);
  const first = units.map((unit) => `date_trunc('${unit}', ${day}::timestamp)::date`);
  const ends = units.map(
    (unit) => `(date_trunc('${unit}', ${day}::timestamp) + interval '${intervalOf(unit)}')::date`,
  );
  return {
    start: (from: string) => (first.length > 0 ? `greatest(${[from, ...first].join(", ")})` : from),
    end: ends.length > 0 ? `least(${ends.join(", ")})` : null,
  };
};
