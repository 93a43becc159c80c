import { type AggregateName, namedIn } from "../measures.ts";
import { filtersOf } from "../spec.ts";
import { type Context, countsOf, type Section } from "./context.ts";
import { SUM_NAMES, type SumName } from "./sums.ts";

/** Aggregates of `requests` over cells, which are sums of records. What is counted distinctly is counted apart. */
export const OVER_CELLS: Partial<Record<AggregateName | "uncertain" | "latencies", string>> = {
  records: "sum(records)",
  billed_records: "sum(records) filter (where billed)",
  unpriced: "sum(unpriced) filter (where billed)",
  uncertain: "sum(uncertain) filter (where billed)",
  input_tokens: "sum(input_tokens)",
  output_tokens: "sum(output_tokens)",
  total_tokens: "sum(input_tokens + output_tokens)",
  cached_tokens: "sum(cached_tokens)",
  billed_tokens: "sum(input_tokens + output_tokens) filter (where billed)",
  priced_input_tokens: "sum(priced_input_tokens) filter (where billed)",
  priced_output_tokens: "sum(priced_output_tokens) filter (where billed)",
  cost_usd: "sum(cost_usd) filter (where billed)",
  token_cost_usd: "sum(token_cost_usd) filter (where billed)",
  session_cost_usd: "sum(session_cost_usd) filter (where billed)",
  latency_sum_ms: "sum(latency_sum)",
  latency_count: "sum(latency_count)",
  ttft_sum_ms: "sum(ttft_sum)",
  ttft_count: "sum(ttft_count)",
  latencies: "sum(latencies)",
};

/** The columns of cells that these aggregates are made of. */
export const usedSums = (columns: readonly string[]): SumName[] =>
  namedIn(
    columns.flatMap((name) => OVER_CELLS[name as AggregateName] ?? []),
    SUM_NAMES,
  );

/** Whether the part of the cost that belongs to sessions is one of them. */
export const ofSessions = (columns: readonly string[]): boolean => columns.includes("session_cost_usd");

/** All others are whole numbers, which the server adds up several times faster. */
const FRACTIONS: readonly string[] = ["cost_usd", "token_cost_usd", "session_cost_usd", "latencies"];

/**
 * Every part has the same columns, all of them sums, so that the parts of a group add up. `isOne`: there is one row of
 * each group.
 */
export function partSql(
  context: Context,
  { total }: Section,
  known: Readonly<Record<string, string>>,
  from: string,
  isOne = false,
): string {
  const groups = total ? `''::text as d1, ''::text as d2` : "d1, d2";
  const column = (name: string) =>
    `(${known[name] ?? "null"})::${FRACTIONS.includes(name) ? "numeric" : "bigint"} as ${name}`;
  return `
  select ${total} as total, current, ${groups}, ${[...context.columns, ...countsOf(context)].map(column).join(", ")}
  from ${from}${isOne ? "" : ` group by current${total ? "" : ", d1, d2"}`}`;
}

/**
 * The facts by group and by who made them, from which groups, the total and those who are counted distinctly come: of a
 * person or a session there are few rows, so most of the work is done here, once.
 */
export function baseSql(
  { entities }: Pick<Context, "entities">,
  columns: readonly string[],
  facts: string,
  further: Readonly<Record<string, string>> = {},
): string {
  const people = entities.includes("person") ? ["person"] : [];
  const runs = entities.some((entity) => entity !== "person") ? ["run", "day"] : [];
  const groups = ["current", "d1", "d2", ...(entities.length > 0 ? ["value"] : []), ...people, ...runs];
  const who = [
    ...(entities.length > 0 ? ["bool_or(billed) as billed"] : []),
    ...(people.length > 0 && runs.length === 0 ? ["min(day) as day"] : []),
    ...(entities.includes("hour")
      ? ["bit_or(hours) as hours", "bit_or(hours) filter (where billed) as billed_hours"]
      : []),
  ];
  return `
  select ${[...groups, ...who, ...sumsOver(columns), ...named(further)].join(", ")}
  from ${facts} group by ${groups.join(", ")}`;
}

const named = (sums: Readonly<Record<string, string>>): string[] =>
  Object.entries(sums).map(([name, sql]) => `${sql} as ${name}`);

const sumsOver = (columns: readonly string[]): string[] =>
  columns.map((name) => `${OVER_CELLS[name as AggregateName] ?? "null"} as ${name}`);

/** Whether cells of days or hours are read, and not single records alone. */
export const readsCells = ({ current, previous }: Context["covers"]): boolean =>
  [current, previous].some((cover) => cover && cover.days.length + cover.hours.length > 0);

/**
 * Whether sums and those who are counted distinctly are made apart of the facts. Persons and sessions of groups may be
 * nearly as many as cells, so that summing up each of them takes longer than reading the cells once more; of the few cells
 * that filters leave persons do not, and as bits they need not be told apart at all. Nearly every single record beside sums
 * has a person or session of its own, and a histogram for each of these costs more than reading the records twice; other
 * sums do not.
 */
export const isApart = ({ ask, entities, columns, people, covers }: Context): boolean => {
  if (!readsCells(covers) && !columns.includes("latencies")) return false;
  return filtersOf(ask.spec.filters).length === 0 || people !== null
    ? entities.length > 0
    : entities.some((entity) => entity !== "person");
};

/** The facts' sums by group alone; `further` are others than those of `OVER_CELLS`. */
export const sumsByGroup = (
  { columns }: Context,
  facts: string,
  further: Readonly<Record<string, string>> = {},
): string => `
  select ${["current", "d1", "d2", ...sumsOver(columns), ...named(further)].join(", ")}
  from ${facts} group by current, d1, d2`;

/** What the facts' sums add to a section. */
export function sumsOfBase(
  context: Context,
  section: Section,
  base: string,
  further: readonly string[] = [],
  byPerson = false,
): string {
  // Apart they are by group already.
  const isOne = isApart(context) && !section.total && !byPerson;
  const known = [...context.columns, ...further].map((name) => [name, isOne ? name : `sum(${name})`]);
  return partSql(context, section, Object.fromEntries(known), base, isOne);
}
