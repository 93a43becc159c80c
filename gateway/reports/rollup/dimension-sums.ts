import { type Context, distinctNames, type Section } from "../context.ts";
import { dimensionOf, isTime } from "../dimensions.ts";
import { type AggregateName, aggregateOf, namedIn } from "../measures.ts";
import { asksForLane } from "../spec.ts";
import { HOUR_MS, type SumsSpan } from "./cover.ts";
import { billedSql, type Kind, LANE, type Lane } from "./kinds.ts";
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

/** Each distinct count, by what is counted and the lane. */
export const COUNTS = {
  person: { all: "users", billed: "billed_users" },
  session: { all: "sessions", billed: "billed_sessions" },
} as const satisfies Record<string, Record<Lane, AggregateName>>;
export type Counted = keyof typeof COUNTS;
const LANES = Object.keys(LANE) as Lane[];

/** What sums by one dimension add to a section; nothing where none are read. */
export function dimensionSums(context: Context, section: Section): SumsPart[] {
  const sums = windowSums(context);
  if (context.kind === null || sums.length === 0) return [];
  const hasSums = sums.some(({ fromMs, toMs }) => fromMs < toMs);
  const hasDeltas = distinctNames(context).some((name) => name !== "hour");
  return [
    ...(hasSums ? [sumsPart(context, section)] : []),
    ...(hasDeltas ? [deltasPart(context, section)] : []),
  ];
}

/** The kind whose rows make up a section: of a total, and of groups of times alone, those of all in all. */
export const kindOf = ({ kind }: Context, { dimensions }: Pick<Section, "dimensions">): Kind =>
  kind !== null && dimensions.some((name) => name === kind) ? kind : "total";

function sumsPart(context: Context, section: Section): SumsPart {
  const { ask, params, names } = context;
  const hours: readonly AggregateName[] = ["active_hours", "billed_hours"];
  const figures = Object.fromEntries(
    names.flatMap((name): [AggregateName, string][] => {
      const sql = hours.includes(name) ? `sum(${name})` : aggregateOf(name).cells;
      return sql ? [[name, sql]] : [];
    }),
  );
  const columns = namedIn(Object.values(figures), [...SUM_NAMES, "session_cost_usd", ...hours]);
  const channel = ask.spec.filters.channel ?? [];
  const where = channel.length > 0 ? ` and t.channel = any(${params.add(channel, "text[]")})` : "";
  const from = rowsSql(context, section, {
    table: "rollup_sums",
    columns: () => [
      "(t.at at time zone 'UTC')::date as day",
      `${asksForLane(ask.spec) ? "true" : billedSql("t.")} as billed`,
      ...columns.map((name) => `t.${name}`),
    ],
    where: (of) => `${sumsSql("t.", of, params)}${where}`,
  });
  return { from, figures };
}

/**
 * Persons and sessions whose last active day lies before the window, or before their group where that is a time. Of the last
 * day those count who were active first before the window ends.
 */
function deltasPart(context: Context, section: Section): SumsPart {
  const { params, names } = context;
  const wanted = (Object.keys(COUNTS) as Counted[]).flatMap((entity) =>
    LANES.flatMap((lane) => (names.includes(COUNTS[entity][lane]) ? [{ entity, lane }] : [])),
  );
  const list = (of: readonly string[]) => [...new Set(of)].join(", ");
  const { start } = unitOf(section, "t.day");
  const from = rowsSql(context, section, {
    table: "rollup_distinct_deltas",
    columns: ({ toDay, midnightMs, endMs }) => [
      "t.day",
      "t.entity",
      "t.lane",
      endMs > midnightMs
        ? `case when t.day < ${params.add(toDay, "date")} then t.n else width_bucket(${endMs - midnightMs - 1}, t.firsts) end as n`
        : "t.n",
    ],
    where: ({
      fromDay,
      toDay,
      midnightMs,
      endMs,
    }) => `t.day >= ${params.add(fromDay, "date")} and t.day ${endMs > midnightMs ? "<=" : "<"} ${params.add(toDay, "date")}
          and t.previous < ${start(params.add(fromDay, "date"))} and t.lane in (${list(wanted.map(({ lane }) => String(LANE[lane])))})
          and t.entity in (${list(wanted.map(({ entity }) => `'${entity}'`))})`,
  });
  const figures = Object.fromEntries(
    wanted.map(({ entity, lane }) => [
      COUNTS[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return { from, figures };
}

type Rows = { table: string; columns: (sums: WindowSums) => string[]; where: (sums: WindowSums) => string };

/** Rows `t` of both windows' sums, with the groups that they make. */
function rowsSql(context: Context, section: Section, { table, columns, where }: Rows): string {
  const { ask, params } = context;
  const { dimensions } = section;
  const org = params.add(ask.orgId, "text");
  const [d1 = "''", d2 = "''"] = dimensions.map((name) => dimensionOf(name).label ?? "r.value");
  const windows = windowSums(context).map(
    (sums) => `
      select ${[`${sums.current} as current`, "t.value", ...columns(sums)].join(", ")} from ${table} t
        where t.org_id = ${org} and t.kind = '${kindOf(context, section)}' and ${where(sums)}`,
  );
  const keys = dimensions.includes("key")
    ? `\n    left join keys k on k.org_id = ${org} and k.id = r.value::uuid`
    : "";
  return `(
    select r.*, (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2 from (${windows.join("\n      union all")}
    ) r${keys}
  ) r`;
}

/** The first of the days that a row of `day` shares with its group, not before `from`, and the first after them, if any. */
export const unitOf = ({ dimensions }: Pick<Section, "dimensions">, day: string) => {
  const units = dimensions.filter(isTime);
  const first = units.map((unit) => `date_trunc('${unit}', ${day}::timestamp)::date`);
  const ends = units.map((unit) => `(date_trunc('${unit}', ${day}::timestamp) + interval '1 ${unit}')::date`);
  return {
    start: (from: string) => (first.length > 0 ? `greatest(${[from, ...first].join(", ")})` : from),
    end: ends.length > 0 ? `least(${ends.join(", ")})` : null,
  };
};
