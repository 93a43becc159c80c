import {
  type Decomposition,
  type Figures,
  MEASURE_MEANING,
  type MeasureName,
  type Result,
  type Row,
  type Unit,
} from "#shared/report.ts";
import { tableText } from "./table.ts";

/** A result as a table: one line per group, the total last; with a comparison, each measure's change next to it. */
export function resultText(result: Result): string {
  const { dimensions, measures } = result.spec;
  const shown = [...new Set(measures)];
  const head = [
    ...(dimensions.length > 0 ? dimensions : [""]),
    ...shown.flatMap((name) => (result.previousWindow ? [titleOf(name), "change"] : [titleOf(name)])),
  ];
  const width = Math.max(dimensions.length, 1);
  const line = (groups: readonly string[], row: Row) => [
    ...Array.from({ length: width }, (_, at) => printable(groups[at] ?? "")),
    ...shown.flatMap((name) => cellsOf(row, name, result.previousWindow !== null)),
  ];
  const rows = [...result.rows.map((row) => line(row.groups, row)), line(["total"], result.total)];
  return [
    windowText(result),
    tableText(head, rows, (column) => column >= width),
    ...(result.decomposition ? [decompositionText(result.decomposition)] : []),
  ].join("\n");
}

const titleOf = (name: MeasureName): string => {
  const unit = MEASURE_MEANING[name][0];
  return unit !== "USD" && unit !== "ms" ? name : `${name} (${unit})`;
};

function windowText({ window, previousWindow }: Result): string {
  const span = ({ from, to }: Result["window"]) => `${from ?? "the first record"} to ${to ?? "now"}`;
  return previousWindow ? `${span(window)}, against ${span(previousWindow)}` : span(window);
}

/** Unknown differs from 0; "≥" marks a lower bound of cost. */
function cellsOf(row: Row, name: MeasureName, compared: boolean): string[] {
  const unit = MEASURE_MEANING[name][0];
  const value = figureOf(row.current, name);
  const bound = row.floor && unit === "USD" && value !== null && name !== "cost_decomposition" ? "≥ " : "";
  const cell = value === null ? "–" : bound + figureText(value, unit);
  if (!compared) return [cell];
  const delta = figureOf(row.delta, name);
  return [cell, delta === null ? "–" : `${delta > 0 ? "+" : ""}${figureText(delta, unit)}`];
}

/** One figure of a group, without a comparison. */
export const cellText = (row: Row, name: MeasureName): string => cellsOf(row, name, false).join();

const figureOf = (figures: Figures | null, name: MeasureName): number | null => figures?.[name] ?? null;

/** Money down to its first significant digits, shares in percent. */
function figureText(value: number, unit: Unit): string {
  if (unit === "fraction") return `${(value * 100).toFixed(1)} %`;
  const digits =
    unit === "USD" ? (Math.abs(value) >= 1 || value === 0 ? 2 : 6) : Number.isInteger(value) ? 0 : 1;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: unit === "USD" ? 2 : 0,
    maximumFractionDigits: digits,
  });
}

/** Labels come from clients and must not move a terminal's cursor. */
export const printable = (label: string): string => label.replace(/[\p{Cc}\p{Cf}]/gu, "�");

function decompositionText({ deltaUsd, parts, unmodelledUsd, floor }: Decomposition): string {
  const named = [
    ["number of people", parts.users],
    ["requests per person", parts.requestsPerUser],
    ["input tokens per request", parts.inputTokensPerRequest],
    ["output tokens per request", parts.outputTokensPerRequest],
    ["price per token", parts.pricePerToken],
    ["not modelled", unmodelledUsd],
    ["change in cost", deltaUsd],
  ] as const;
  const rows = named.map(([name, usd]) => [name, `${usd > 0 ? "+" : ""}${figureText(usd, "USD")}`]);
  return `\n${tableText(["what changed the cost", floor ? "≥ USD" : "USD"], rows, (column) => column === 1)}`;
}
