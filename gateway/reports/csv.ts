import type { Figures, MeasureName, Result, Row, Spec } from "#shared/report.ts";
import { dayIn } from "#shared/time-zone.ts";
import { type Moment, periodsOf } from "./window.ts";

/**
 * A result as CSV (RFC 4180, CRLF): the groups, each measure, and after a comparison its previous value and its delta;
 * the total last. An unknown figure is an empty cell. Labels that a spreadsheet would run as a formula are made text.
 */
export const toCsv = (result: Result): string => csvHead(result) + csvLines(result) + csvTotal(result);

export function csvHead({ spec: { dimensions, measures }, previousWindow }: Result): string {
  const compared = previousWindow !== null;
  return csvLine([
    ...(dimensions.length > 0 ? dimensions : ["group"]),
    ...[...new Set(measures)].flatMap((name) =>
      compared ? [name, `previous_${name}`, `delta_${name}`] : [name],
    ),
    "floor",
    ...(compared ? ["previous_floor"] : []),
  ]);
}

export const csvLines = (result: Result): string =>
  result.rows.map((row) => rowLine(result, row.groups.map(textCell), row)).join("");

export const csvTotal = (result: Result): string =>
  rowLine(result, ["total", ...result.spec.dimensions.slice(1).map(() => "")], result.total);

function rowLine({ spec: { measures }, previousWindow }: Result, groups: string[], row: Row): string {
  const compared = previousWindow !== null;
  return csvLine([
    ...groups,
    ...[...new Set(measures)].flatMap((name) => figures(row, name, compared)),
    String(row.floor),
    ...(compared ? [String(row.previousFloor)] : []),
  ]);
}

function figures(row: Row, name: MeasureName, compared: boolean): string[] {
  const cell = (side: Figures | null) => String(side?.[name] ?? "");
  return compared ? [cell(row.current), cell(row.previous), cell(row.delta)] : [cell(row.current)];
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(",")}\r\n`;

/** Labels come from clients. What starts like a formula gets an apostrophe, which spreadsheets read as "text follows". */
export const textCell = (text: string): string =>
  /^\s*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;

// Where the comma is the decimal sign, spreadsheets part cells at semicolons and tabs as well, unless they are quoted.
const quoted = (cell: string): string =>
  /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** `spend-by-model-2026-11-01-to-2026-11-21.csv`: the report and its days. */
export function csvFileName(id: string, spec: Spec, moment: Required<Moment>): string {
  const { fromMs, toMs } = periodsOf(spec.range, "none", moment).current;
  const day = (ms: number) => dayIn(ms, moment.timeZone);
  const name = id.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 64);
  // The end does not belong to the window: the last day in it may be the one before.
  return `${name}${fromMs === null ? "" : `-${day(fromMs)}`}-to-${day(toMs - 1)}.csv`;
}
