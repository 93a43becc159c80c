import { expect } from "bun:test";
import type { Figures, MeasureName, Result, Row, Spec } from "#shared/report.ts";
import type { NaiveRow } from "./naive.ts";

export const near = (a: number | null | undefined, b: number | null | undefined) =>
  a == null || b == null ? a === b : Math.abs(a - b) <= 1e-11 * Math.max(1, Math.abs(a), Math.abs(b));

function expectSame(found: Row | undefined, expected: NaiveRow, agreesAs: Agrees): void {
  if (!found) throw new Error(`no row ${expected.groups}`);
  const same = (a: Figures | null, b: Figures | null) => {
    if (!a || !b) return a === b;
    return (Object.keys(b) as MeasureName[]).every((name) => agreesAs(name, a[name], b[name]));
  };
  const agree = same(found.current, expected.current) && same(found.previous, expected.previous);
  const floors = found.floor === expected.floor && found.previousFloor === expected.previousFloor;
  if (!agree || !floors)
    expect({ ...found, delta: undefined } as unknown).toEqual({ ...expected, delta: undefined });
}

type Agrees = (name: MeasureName, a: number | null | undefined, b: number | null | undefined) => boolean;

/** The figures of a result are those of the reference; `agreesAs` says when two figures are the same. */
export function expectReport(
  result: Result,
  expected: { rows: NaiveRow[]; total: NaiveRow },
  agreesAs: Agrees = (_, a, b) => near(a, b),
): void {
  const names = (rows: readonly { groups: string[] }[]) =>
    rows.map(({ groups }) => JSON.stringify(groups)).sort();
  expect(names(result.rows)).toEqual(names(expected.rows));
  for (const row of expected.rows) {
    const found = result.rows.find((it) => JSON.stringify(it.groups) === JSON.stringify(row.groups));
    expectSame(found, row, agreesAs);
  }
  expectSame(result.total, expected.total, agreesAs);
  expectOrdered(result.rows, result.spec);
}

/** Time and hours ascending, then the first measure descending, what is unknown last, then the label. */
function expectOrdered(rows: Row[], { dimensions, measures }: Spec): void {
  const first = measures[0] ?? "requests";
  const times = dimensions.flatMap((name, i) =>
    ["day", "week", "month", "quarter", "hour_of_day"].includes(name) ? [i] : [],
  );
  const text = (row: Row, i: number) => row.groups[i] ?? "";
  const compare = (a: Row, b: Row): number => {
    for (const i of times) if (text(a, i) !== text(b, i)) return text(a, i) < text(b, i) ? -1 : 1;
    const [x, y] = [a.current?.[first] ?? null, b.current?.[first] ?? null];
    if (x !== y && !near(x, y)) return y === null || (x !== null && x > y) ? -1 : 1;
    for (const i of dimensions.keys()) if (text(a, i) !== text(b, i)) return text(a, i) < text(b, i) ? -1 : 1;
    return 0;
  };
  for (let i = 1; i < rows.length; i++) {
    const [before, after] = [rows[i - 1], rows[i]];
    if (before && after) expect(compare(before, after)).toBeLessThanOrEqual(0);
  }
}
