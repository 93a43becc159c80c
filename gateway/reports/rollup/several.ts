import type { DimensionName } from "#shared/report.ts";
import type { Ask } from "../plan.ts";
import { filtersOf } from "../spec.ts";
import { type Context, ENTITIES, type Section } from "./context.ts";
import { isFine } from "./kinds.ts";
import { partSql } from "./parts.ts";
import { pickingSql } from "./picked.ts";
import { spansSql } from "./spans.ts";

// Most sessions have one row of keys on one day: then the cells of that day tell, each by itself, whether they count, and
// sessions and hours are sums. Only those of several rows are told apart, and what sums tell of them is taken away.

/** Of a cell the column of the hours that count with it, where each session of one row counts once; null: none does. */
export function countingHours({ spec }: Ask, dimensions: readonly DimensionName[]): string | null {
  const filters = filtersOf(spec.filters).filter(([name]) => isFine(name));
  const isOne = ([name, values]: [DimensionName, string[]]) =>
    dimensions.includes(name) || new Set(values).size === 1;
  if (!filters.every(isOne)) return null;
  const fine = new Set([...dimensions, ...filters.map(([name]) => name)].filter(isFine));
  if (fine.size !== 1) return "hours";
  return fine.has("model") ? "of_model" : "of_route";
}

/** What a row of cells tells of sessions; `counting` is null for rows that never count by themselves. */
export const countedOf = (counting: string | null): [name: string, sql: string][] =>
  counting === null
    ? [
        ["runs", "0"],
        ["run_hours", "0"],
      ]
    : [
        ["runs", `(session is not null and ${counting} <> 0)::int`],
        // Of the type that single records have there: of other unions the server gives no part to further processes.
        ["run_hours", `case when session is not null then bit_count(${counting}::bit(24))::int else 0 end`],
      ];

/** The names under which these sums are told. */
export const COUNTED = {
  [ENTITIES.session.all]: "sum(runs)",
  [ENTITIES.session.billed]: "sum(runs) filter (where billed)",
  [ENTITIES.hour.all]: "sum(run_hours)",
  [ENTITIES.hour.billed]: "sum(run_hours) filter (where billed)",
} as const;

/** The table `several`: sessions that have several rows in the windows, or are not of whole days. */
export function severalSql({ ask, params, covers: { current, previous } }: Context): string {
  const org = params.add(ask.orgId, "text");
  const parts = (["days", "hours", "raw"] as const).flatMap((which) => {
    const spans = [...current[which], ...(previous?.[which] ?? [])];
    const { table, at, may } = READ[which];
    if (spans.length === 0) return [];
    const picking = which === "days" ? pickingSql({ ask, params }, "rollup_sessions") : "";
    return `
  select session from (select c.*, true as attributed from ${table} c) r
  where org_id = ${org} and (${spansSql(at, spans, params)}) and ${may}${picking}
  group by session`;
  });
  return `several as materialized (${parts.join("\n  union") || "select null::text as session where false"}\n)`;
}

const READ = {
  days: { table: "rollup_sessions", at: "day", may: "several and session is not null" },
  hours: { table: "rollup_hours", at: "hour", may: "session is not null" },
  raw: { table: "requests", at: "started_at", may: "session is not null" },
};

/** Sessions of several rows by group and day, and what sums tell of them. */
export const baseOfSeveral = (facts: string): string => `
  select current, d1, d2, run, day, bool_or(billed) as billed, bit_or(hours) as hours,
    bit_or(hours) filter (where billed) as billed_hours, sum(runs) as runs, sum(run_hours) as run_hours,
    coalesce(sum(runs) filter (where billed), 0) as billed_runs,
    coalesce(sum(run_hours) filter (where billed), 0) as billed_run_hours
  from ${facts} where run is not null group by current, d1, d2, run, day`;

export function severalParts(context: Context, section: Section, base: string): string[] {
  const sessions = `(
    select current, d1, d2, run, bool_or(billed) as billed, sum(runs) as runs, sum(billed_runs) as billed_runs
    from ${base} group by current, d1, d2, run
  ) e`;
  const hours = (of: string) => `coalesce(sum(bit_count(${of}::bit(24))), 0)`;
  return [
    partSql(
      context,
      section,
      {
        [ENTITIES.session.all]: "count(*) - sum(runs)",
        [ENTITIES.session.billed]: "count(*) filter (where billed) - sum(billed_runs)",
      },
      sessions,
    ),
    partSql(
      context,
      section,
      {
        [ENTITIES.hour.all]: `${hours("hours")} - sum(run_hours)`,
        [ENTITIES.hour.billed]: `${hours("billed_hours")} - sum(billed_run_hours)`,
      },
      base,
    ),
  ];
}
