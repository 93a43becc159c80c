import { difference, type Exact, parseDecimal, ZERO } from "#shared/decimal.ts";
import type { Coverage, Figures, MeasureName, Result, Row, Spec } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, type Aggregates, aggregateOf } from "./aggregates.ts";
import { decompose } from "./decompose.ts";
import { aggregatesOf, isBudget, isMoney, MEASURE, type Measure } from "./measures.ts";
import { ratio, toNumber } from "./quotient.ts";
import { type Periods, windowOf } from "./window.ts";

/** A row as the planned queries answer it: every value as text. */
export type AnswerRow = Readonly<Record<string, string | null>>;

/**
 * What the planned statement answers, its total included, what is known of the labels asked for, and how many people made
 * calls of known cost, where others made calls of unknown cost alone. `ceiling`: what its batches cost is an upper bound.
 */
export type Answers = {
  rows: readonly AnswerRow[];
  coverage: Coverage | null;
  payers: AnswerRow | null;
  ceiling: boolean;
  /** Absent: none are asked for, or none are of these windows. */
  budgets?: RowBudgets | null | undefined;
};

/** The budget of a row, as it is set now. `isWhole`: the row contains every call that counts in it. Null: the row has no budget. */
export type BudgetOf = (groups: readonly string[]) => { usd: Exact; isWhole: boolean } | null;
/** In either window. */
export type RowBudgets = { current: BudgetOf; previous: BudgetOf };

export const isTotal = (row: AnswerRow) => row["is_total"] === "true";

type Sides<T> = { current: T; previous: T };
type ExactFigures = Partial<Record<MeasureName, Exact | null>>;

/** The result that the answers give: exact until here, JSON numbers from here on. */
export function assemble(spec: Spec, periods: Periods, answers: Answers): Result {
  const totalRow = answers.rows.find(isTotal);
  const names = aggregatesOf(spec.measures);
  const nothing = sumsOverNothing(names);
  const columns = { current: columnsOf("c", names), previous: columnsOf("p", names) };
  const { current, previous } = sidesOf(totalRow ?? {}, columns);
  const totals = { current: current ?? nothing, previous: previous ?? nothing };
  const compared = periods.previous !== null;
  const row = (groups: string[], sides: Sides<Aggregates | null>) =>
    rowOf(spec, { groups, sides, totals, nothing, compared, budgets: answers.budgets ?? null });
  return {
    spec,
    window: windowOf(periods.current),
    previousWindow: periods.previous && windowOf(periods.previous),
    rows: ranked(
      spec,
      answers.rows
        .filter((answer) => !isTotal(answer))
        .map((answer) => row(groupsOf(answer, spec), sidesOf(answer, columns))),
    ),
    total: row([], { current: totals.current, previous: compared ? totals.previous : null }),
    decomposition:
      compared && spec.measures.includes("cost_decomposition")
        ? decompose(
            withPayers(totals.previous, (answers.payers ?? totalRow)?.["p_priced_users"]),
            withPayers(totals.current, (answers.payers ?? totalRow)?.["c_priced_users"]),
          )
        : null,
    coverage: answers.coverage,
  };
}

/** Statements know no budgets: by these, rows are put in order here. */
function ranked({ measures: [first] }: Spec, rows: Row[]): Row[] {
  const of = (row: Row) => (first && row.current?.[first]) ?? Number.NEGATIVE_INFINITY;
  return isBudget(first) ? rows.sort((a, b) => (of(a) === of(b) ? 0 : of(b) - of(a))) : rows;
}

const withPayers = (sums: Aggregates, count: string | null | undefined): Aggregates =>
  typeof count === "string" ? { ...sums, of: { ...sums.of, priced_users: parseDecimal(count) } } : sums;

/** Whether neither window has a record. */
export const isEmpty = ({ rows }: Answers): boolean =>
  rows.every((row) => Number(row["c_records"] ?? 0) === 0 && Number(row["p_records"] ?? 0) === 0);

const groupsOf = (answer: AnswerRow, spec: Spec): string[] =>
  spec.dimensions.map((_, i) => answer[`d${i + 1}`] ?? "");

/** What a side's columns are called: thousands of rows have the same. */
type Columns = {
  records: string;
  uncertain: string;
  of: readonly (readonly [name: AggregateName, column: string])[];
};

const columnsOf = (side: "c" | "p", names: readonly AggregateName[]): Columns => ({
  records: `${side}_records`,
  uncertain: `${side}_uncertain`,
  of: names.map((name) => [name, `${side}_${name}`]),
});

const sidesOf = (answer: AnswerRow, { current, previous }: Sides<Columns>): Sides<Aggregates | null> => ({
  current: sumsOf(answer, current),
  previous: sumsOf(answer, previous),
});

function sumsOf(answer: AnswerRow, columns: Columns): Aggregates | null {
  if (Number(answer[columns.records] ?? 0) === 0) return null;
  const of: Aggregates["of"] = {};
  for (const [name, column] of columns.of) {
    const text = answer[column] ?? null;
    of[name] = text === null ? overNothing(name) : parseDecimal(text);
  }
  return { floor: Number(answer[columns.uncertain] ?? 0) > 0, of };
}

/** A sum of nothing is 0; of money it is unknown where there are records. */
const overNothing = (name: AggregateName): Exact | null => {
  const { empty, money } = aggregateOf(name);
  return empty === null || money ? null : ZERO;
};

const sumsOverNothing = (names: readonly AggregateName[]): Aggregates => ({
  floor: false,
  of: Object.fromEntries(names.map((name) => [name, AGGREGATES[name].empty === null ? null : ZERO])),
});

type RowFacts = {
  groups: string[];
  sides: Sides<Aggregates | null>;
  totals: Sides<Aggregates>;
  nothing: Aggregates;
  compared: boolean;
  budgets: RowBudgets | null;
};

function rowOf(spec: Spec, { groups, sides, totals, nothing, compared, budgets }: RowFacts): Row {
  const floors = spec.measures.some(isMoney);
  const exact = (side: keyof Sides<Aggregates>): ExactFigures | null => {
    const sums = sides[side];
    if (!sums) return null;
    const facts = { sums, total: totals[side], budget: budgets?.[side](groups) ?? null };
    return eachMeasure(spec, (name) => figureOf(MEASURE[name], facts));
  };
  const current = exact("current");
  const previous = exact("previous");
  const delta =
    current && previous && eachMeasure(spec, (name) => minus(current[name] ?? null, previous[name] ?? null));
  if (current && compared) {
    // The change is a figure of the current window, measured against what was there before (nothing is 0).
    const before = sides.previous ?? nothing;
    for (const name of spec.measures) {
      const { kind, of } = MEASURE[name];
      if (kind === "change") current[name] = minus(sides.current?.of[of] ?? null, before.of[of] ?? null);
    }
  }
  return {
    groups,
    current: numbersOf(spec, current),
    previous: numbersOf(spec, previous),
    delta: numbersOf(spec, delta),
    floor: floors && sides.current?.floor === true,
    previousFloor: floors && sides.previous?.floor === true,
  };
}

/** Null is unknown or undefined, and makes what it touches null. */
const minus = (a: Exact | null, b: Exact | null): Exact | null => a && b && difference(a, b);

function eachMeasure(spec: Spec, figure: (name: MeasureName) => Exact | null): ExactFigures {
  const figures: ExactFigures = {};
  for (const name of spec.measures) figures[name] = figure(name);
  return figures;
}

type FigureFacts = { sums: Aggregates; total: Aggregates; budget: ReturnType<BudgetOf> };

function figureOf(measure: Measure, { sums, total, budget }: FigureFacts): Exact | null {
  const value = sums.of[measure.of] ?? null;
  switch (measure.kind) {
    case "base":
      return value;
    case "per":
      return ratio(value, sums.of[measure.per] ?? null, measure.times);
    case "share":
      return ratio(value, total.of[measure.of] ?? null);
    case "change":
      return null;
    case "budget":
      return budget?.usd ?? null;
    case "used":
      return budget?.isWhole ? ratio(value, budget.usd) : null;
  }
}

function numbersOf({ measures }: Spec, figures: ExactFigures | null): Figures | null {
  if (!figures) return null;
  const numbers: Figures = {};
  for (const name of measures) numbers[name] = toNumber(figures[name] ?? null);
  return numbers;
}
