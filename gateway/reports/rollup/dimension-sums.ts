import { SUM_NAMES } from "#drizzle/hour-sums.ts";
import { type AggregateName, aggregateOf, namedIn } from "../aggregates.ts";
import { type Context, groupedBy, groupTexts, type Section } from "../context.ts";
import { dimensionOf, isFilteredByText } from "../dimensions.ts";
import { asksForLane } from "../spec.ts";
import { HOUR_MS, type SumsSpan } from "./cover.ts";
import { billedSql, COUNTS, type Counted, EVERYTHING, type Kind, valueSql } from "./kinds.ts";
import { dayOf, sumsSql } from "./spans.ts";

/** Aggregates by name, and the table whose rows they are made of. */
export type SumsPart = { from: string; figures: Readonly<Partial<Record<AggregateName, string>>> };

/** The sums of a window: days from `fromDay` to before `toDay`, and of that day the hours before `toHour`. */
export type WindowSums = SumsSpan & { current: boolean; fromDay: string; toDay: string; toHour: number };

function windowSums({ covers: { current, previous } }: Pick<Context, "covers">): WindowSums[] {
  const sides = [
    { isCurrent: true, sums: current.sums },
    { isCurrent: false, sums: previous?.sums ?? null },
  ];
  return sides.flatMap(({ isCurrent, sums }) => {
    // Before the first day there is nothing.
    if (!sums || sums.fromMs === sums.toMs) return [];
    const toHour = (sums.toMs - sums.midnightMs) / HOUR_MS;
    const [fromDay, toDay] = [dayOf(sums.fromMs), dayOf(sums.midnightMs)];
    return [{ ...sums, current: isCurrent, fromDay, toDay, toHour }];
  });
}

/** Whether sums by one dimension answer, at least for a part of the windows. */
export const hasSums = (context: Context): boolean => context.kind !== null && windowSums(context).length > 0;
const counts = ({ names }: Context, counted: Counted): boolean =>
  Object.values<AggregateName>(COUNTS[counted]).some((name) => names.includes(name));

/** The kind whose rows make up a section: of a total, and of groups of times alone, those of all in all. */
const kindOf = ({ kind }: Context, { dimensions }: Pick<Section, "dimensions">): Kind =>
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
  const figures = Object.fromEntries(
    names.flatMap((name): [AggregateName, string][] => {
      const sql = isTogether(name) ? `sum(${name})` : aggregateOf(name).cells;
      return sql ? [[name, sql]] : [];
    }),
  );
  const columns = namedIn(Object.values(figures), [...SUM_NAMES, "session_cost_usd", ...TOGETHER]);
  const from = columns.length === 0 ? null : rowsOf(context, section, columns);
  return from === null ? null : { from, figures, columns };
}

/** The rows of sums by one dimension that make up a section, with these columns; null if no sums exist. */
function rowsOf(context: Context, section: Section, wanted: readonly string[]): string | null {
  const { ask, params, scope, kind } = context;
  if (!hasSums(context)) return null;
  const columns = [
    "t.current",
    "t.value",
    "(t.at at time zone 'UTC')::date as day",
    `${asksForLane(ask.spec) ? "true" : billedSql("t.")} as billed`,
    ...wanted.map((name) => `t.${name}`),
  ];
  const anyOf = (column: string, values: readonly string[] = []) =>
    values.length > 0 ? ` and t.${column} = any(${params.add(values, "text[]")})` : "";
  const { filters } = ask.spec;
  const values = kind !== null && kind !== "total" && isFilteredByText(kind) ? filters[kind] : [];
  const chosen = anyOf("channel", filters.channel) + anyOf("value", values);
  const rows = windowSums(context).flatMap((sums) =>
    sumsSql(sums, params).map(
      (where) => `select ${sums.current} as current, * from rollup_sums where ${where}`,
    ),
  );
  return grouped(
    section,
    `
      select ${columns.join(", ")}
      from (${rows.join("\n        union all ")}) t
      where t.org_id = ${params.add(ask.orgId, "text")} and t.kind = '${kindOf(context, section)}'
        and t.scope = ${params.add(scope, "text")}${chosen}`,
  );
}

export const peopleOf = ({ facts, total }: Section): string => `people_${total ? "in" : "of"}_${facts}`;

/** The sets of persons of a section's groups, as sums by one dimension have them; null where they have none. */
export function peopleTable(context: Context, section: Section): string[] {
  const from = counts(context, "person") ? rowsOf(context, section, ["people"]) : null;
  if (from === null) return [];
  const last = `(select max(n) from rollup_people where org_id = ${context.params.add(context.ask.orgId, "text")})`;
  // Only sets of one length are joined. The function is what a cast to a constant length calls.
  const joined = `bit_or(pg_catalog."bit"(people, ${last} + 1, true))`;
  const groups = groupedBy(context, section);
  return [
    `${peopleOf(section)} as materialized (
  select ${groups}, ${joined} as people, ${joined} filter (where billed) as billed_people
  from ${from} group by ${groups}
)`,
  ];
}

export const peoplePart = (context: Context, section: Section): (SumsPart & { isAdded: true }) | null =>
  hasSums(context) && counts(context, "person")
    ? {
        from: peopleOf(section),
        figures: { users: "bit_count(people)", billed_users: "bit_count(billed_people)" },
        isAdded: true,
      }
    : null;

/** The table of a section's sessions of which more must be known than sums say. */
export const sessionsOf = ({ facts, total }: Section): string => `sessions_${total ? "in" : "of"}_${facts}`;

/**
 * Sessions in the sums of a section's groups that are known from several days, and those of a last day that is in part in the
 * sums: how often sums have them too many times (`n`), for they have each once for each day, and in which lanes they have them
 * (`known`): 1 for all records, 3 for those that are billed, too. They are few.
 */
export function sessionsTable(context: Context, section: Section): string[] {
  if (!hasSums(context) || !counts(context, "session")) return [];
  const { ask, params, scope } = context;
  const value = valueSql(kindOf(context, section));
  const org = params.add(ask.orgId, "text");
  const inScope = scope === EVERYTHING ? "" : ` and ${params.add(scope, "text")} = any(r.teams)`;
  const rows = windowSums(context).flatMap(({ current, fromDay, toDay, toHour }) => {
    const [from, to] = [params.add(fromDay, "date"), params.add(toDay, "date")];
    const whole = `r.again and r.day >= ${from} and r.day < ${to}`;
    const last = `r.day = ${to} and r.hours & ${2 ** toHour - 1} <> 0`;
    return (toHour > 0 ? [whole, last] : [whole]).map(
      (where) =>
        `select ${current} as current, true as attributed, r.* from rollup_sessions r where r.org_id = ${org} and ${where}`,
    );
  });
  const cells = `
      select r.current, ${value} as value, r.session, r.day, ${billedSql("r.")} as billed
      from (${rows.join("\n        union all ")}) r where r.session is not null${inScope}`;
  const groups = groupedBy(context, section);
  return [
    `${sessionsOf(section)} as materialized (
  select ${groups}, session, count(distinct day) - 1 as n,
    greatest(count(distinct day) filter (where billed) - 1, 0) as billed_n, case when bool_or(billed) then 3 else 1 end as known
  from ${grouped(section, cells)} group by ${groups}, session
)`,
  ];
}

export const sessionsPart = (context: Context, section: Section): SumsPart | null =>
  hasSums(context) && counts(context, "session")
    ? { from: sessionsOf(section), figures: { sessions: "-sum(n)", billed_sessions: "-sum(billed_n)" } }
    : null;

/** Rows `r` of sums with the groups that they make. */
function grouped({ dimensions }: Section, rows: string): string {
  const groups = groupTexts(dimensions.map((name) => dimensionOf(name).label ?? "r.value")).map(
    (text, i) => `(${text})::text collate "C" as d${i + 1}`,
  );
  if (dimensions.length === 0) return `(${rows}\n  ) r`;
  return `(
    select r.*, ${groups.join(", ")} from (${rows}
    ) r
  ) r`;
}
