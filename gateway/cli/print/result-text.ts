import { type Decomposition, MEASURE_MEANING, type MeasureName, type Result } from "#shared/report.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { cellText, changeText, signedText } from "./figure-text.ts";
import { shortened } from "./printable.ts";
import { tableText } from "./table.ts";
import { groupText, windowText } from "./window-text.ts";

const GAP = 2;
/** A longer name is cut, so that the figures have room. */
const NAME_WIDTH_MAX = 30;
/** Titles of measures are broken into lines of about this width. */
const TITLE_WIDTH = 10;

type Column = { title: string; cells: readonly string[] };

/**
 * A result as a table of at most `width` columns: one line per group, the total last; with a comparison, each measure's
 * change next to it. Measures for which there is no room are left out, and named below.
 */
export function resultText(result: Result, width: number): string {
  const names = nameColumns(result, width);
  const measures = [...new Set(result.spec.measures)];
  const { shown, left } = fitting(result, measures, width - widthOf(names));
  const columns = [...names, ...shown];
  const lines = [...result.rows, result.total].map((_, at) => columns.map(({ cells }) => cells[at] ?? ""));
  const table = tableText(
    columns.map(({ title }) => title),
    lines,
    (column) => column >= names.length,
  );
  const isCut = names.some(({ cells }) => cells.some((cell) => cell.endsWith("…")));
  return [
    headText(result, width),
    table,
    ...noteText(left, isCut, width),
    ...(result.decomposition ? [decompositionText(result.decomposition)] : []),
  ].join("\n");
}

function nameColumns({ spec, rows }: Result, width: number): Column[] {
  const { dimensions } = spec;
  if (dimensions.length === 0) return [{ title: "", cells: [...rows.map(() => ""), "Total"] }];
  const most = Math.min(NAME_WIDTH_MAX, Math.floor(width / 2 / dimensions.length));
  return dimensions.map((dimension, at) => ({
    title: dimensionWord(dimension),
    cells: [
      ...rows.map(({ groups }) => shortened(groupText(dimension, groups[at] ?? ""), most)),
      at === 0 ? "Total" : "",
    ],
  }));
}

/** The first measures for which there is room, and at least one. */
function fitting(
  result: Result,
  measures: readonly MeasureName[],
  room: number,
): { shown: Column[]; left: readonly MeasureName[] } {
  const shown: Column[] = [];
  for (const [at, name] of measures.entries()) {
    const columns = measureColumns(result, name);
    if (at > 0 && widthOf([...shown, ...columns]) + GAP > room) return { shown, left: measures.slice(at) };
    shown.push(...columns);
  }
  return { shown, left: [] };
}

function measureColumns({ rows, total, previousWindow }: Result, name: MeasureName): Column[] {
  const all = [...rows, total];
  const [unit] = MEASURE_MEANING[name];
  const title = unit === "USD" ? `${measureWord(name)} (USD)` : measureWord(name);
  const column = { title: Bun.wrapAnsi(title, TITLE_WIDTH), cells: all.map((row) => cellText(row, name)) };
  if (previousWindow === null) return [column];
  return [column, { title: "Change", cells: all.map((row) => changeText(row, name)) }];
}

const widthOf = (columns: readonly Column[]): number =>
  columns.reduce(
    (sum, { title, cells }) =>
      sum + GAP + Math.max(...[...title.split("\n"), ...cells].map((text) => Bun.stringWidth(text))),
    -GAP,
  );

function headText({ window, previousWindow }: Result, width: number): string {
  const span = `${windowText(window)} (UTC)`;
  const text = previousWindow ? `${span}, compared with ${windowText(previousWindow)}` : span;
  return Bun.wrapAnsi(text, width);
}

function noteText(left: readonly MeasureName[], isCut: boolean, width: number): string[] {
  if (left.length === 0 && !isCut) return [];
  const missing = left.length === 0 ? "" : ` Left out: ${left.map(measureWord).join("; ")}.`;
  const cut = isCut ? ' Names that end with "…" are cut.' : "";
  return [Bun.wrapAnsi(`Shortened.${missing}${cut} --json and --csv have everything.`, width)];
}

function decompositionText({ deltaUsd, parts, unmodelledUsd, floor }: Decomposition): string {
  const named = [
    ["Number of people", parts.users],
    ["Requests per person", parts.requestsPerUser],
    ["Input tokens per request", parts.inputTokensPerRequest],
    ["Output tokens per request", parts.outputTokensPerRequest],
    ["Price per token", parts.pricePerToken],
    ["Not modelled", unmodelledUsd],
    ["Change in cost", deltaUsd],
  ] as const;
  const rows = named.map(([name, usd]) => [name, signedText(usd, "USD")]);
  return `\n${tableText(["What changed the cost", floor ? "≥ USD" : "USD"], rows, (column) => column === 1)}`;
}
