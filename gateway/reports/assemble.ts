import type { Coverage, Figures, MeasureName, Result, Row, Spec } from "#shared/report.ts";
import { decompose } from "./decompose.ts";
import { type Fraction, fractionOf, minus, ratio, toNumber, ZERO } from "./fraction.ts";
import { AGGREGATES, aggregatesOf, isMoney, MEASURE, type Measure, type Sums } from "./measures.ts";
import { type Periods, windowOf } from "./window.ts";

/** A row as the planned queries answer it: every value as text. */
export type AnswerRow = Readonly<Record<string, string | null>>;

/** The answers to a plan's queries; `rows` and `coverage` are empty where nothing was asked. */
export type Answers = {
  rows: readonly AnswerRow[];
  total: readonly AnswerRow[];
  coverage: readonly AnswerRow[];
};

type Sides<T> = { current: T; previous: T };
type ExactFigures = Partial<Record<MeasureName, Fraction | null>>;

/** The result that the answers give: exact until here, JSON numbers from here on. */
export function assemble(spec: Spec, periods: Periods, answers: Answers): Result {
  const [totalRow] = answers.total;
  const { current, previous } = sidesOf(totalRow ?? {}, spec);
  const totals = { current: current ?? sumsOverNothing(spec), previous: previous ?? sumsOverNothing(spec) };
  const compared = periods.previous !== null;
  const row = (groups: string[], sides: Sides<Sums | null>) =>
    rowOf(spec, { groups, sides, totals, compared });
  return {
    spec,
    window: windowOf(periods.current),
    previousWindow: periods.previous && windowOf(periods.previous),
    rows: answers.rows.map((answer) => row(groupsOf(answer, spec), sidesOf(answer, spec))),
    total: row([], { current: totals.current, previous: compared ? totals.previous : null }),
    decomposition:
      compared && spec.measures.includes("cost_decomposition")
        ? decompose(totals.previous, totals.current)
        : null,
    coverage: coverageOf(answers.coverage, compared),
  };
}

const groupsOf = (answer: AnswerRow, spec: Spec): string[] =>
  spec.dimensions.map((_, i) => answer[i === 0 ? "d1" : "d2"] ?? "");

const sidesOf = (answer: AnswerRow, spec: Spec): Sides<Sums | null> => ({
  current: sumsOf(answer, "c", spec),
  previous: sumsOf(answer, "p", spec),
});

function sumsOf(answer: AnswerRow, side: "c" | "p", spec: Spec): Sums | null {
  if (answer[`${side}_found`] !== "true") return null;
  const sums = aggregatesOf(spec.measures).map((name) => {
    const text = answer[`${side}_${name}`] ?? null;
    return [name, text === null ? null : fractionOf(text)] as const;
  });
  return { floor: answer[`${side}_floor`] === "true", of: Object.fromEntries(sums) };
}

const sumsOverNothing = (spec: Spec): Sums => ({
  floor: false,
  of: Object.fromEntries(
    aggregatesOf(spec.measures).map((name) => [name, AGGREGATES[name].empty === null ? null : ZERO]),
  ),
});

type RowFacts = { groups: string[]; sides: Sides<Sums | null>; totals: Sides<Sums>; compared: boolean };

function rowOf(spec: Spec, { groups, sides, totals, compared }: RowFacts): Row {
  const floors = spec.measures.some(isMoney);
  const exact = (side: keyof Sides<Sums>): ExactFigures | null => {
    const sums = sides[side];
    return sums && eachMeasure(spec, (name) => figureOf(MEASURE[name], sums, totals[side]));
  };
  const current = exact("current");
  const previous = exact("previous");
  const delta =
    current && previous && eachMeasure(spec, (name) => minus(current[name] ?? null, previous[name] ?? null));
  if (current && compared) {
    // The change is a figure of the current window, measured against what was there before (nothing is 0).
    const before = sides.previous ?? sumsOverNothing(spec);
    for (const name of spec.measures) {
      const { kind, of } = MEASURE[name];
      if (kind === "change") current[name] = minus(sides.current?.of[of] ?? null, before.of[of] ?? null);
    }
  }
  return {
    groups,
    current: numbersOf(current),
    previous: numbersOf(previous),
    delta: numbersOf(delta),
    floor: floors && sides.current?.floor === true,
    previousFloor: floors && sides.previous?.floor === true,
  };
}

const eachMeasure = (spec: Spec, figure: (name: MeasureName) => Fraction | null): ExactFigures =>
  Object.fromEntries(spec.measures.map((name) => [name, figure(name)]));

function figureOf(measure: Measure, sums: Sums, total: Sums): Fraction | null {
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
  }
}

const numbersOf = (figures: ExactFigures | null): Figures | null =>
  figures && Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, toNumber(value)]));

/** Labels that were recorded from the start give no row, and no coverage. */
function coverageOf([row]: readonly AnswerRow[], compared: boolean): Coverage | null {
  if (!row) return null;
  const { since_ms: sinceMs, rows_before: rowsBefore, previous_rows_before: previousRowsBefore } = row;
  return {
    dimensionsSince: sinceMs ? new Date(Number(sinceMs)).toISOString() : null,
    rowsBefore: Number(rowsBefore),
    previousRowsBefore: compared ? Number(previousRowsBefore) : null,
  };
}
