import {
  type Decomposition,
  type DimensionName,
  MEASURE_MEANING,
  type MeasureName,
  type Result,
  type Window,
} from "#shared/report.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { cellText, changeText, signedText } from "./figure-text.ts";
import { shortened } from "./printable.ts";
import { tableText } from "./table.ts";

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
function fitting(result: Result, measures: readonly MeasureName[], room: number) {
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

const DAY_MS = 86_400_000;

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
const DAY = format({ dateStyle: "medium" });
const MOMENT = format({ dateStyle: "medium", timeStyle: "medium" });
const MONTH = format({ month: "short", year: "numeric" });

/** `1 Nov 2026 to 25 Nov 2026`: the last day belongs to it. Ends within a day have their time. */
function windowText({ from, to }: Window): string {
  const first = from === null ? "the first record" : momentText(Date.parse(from));
  if (to === null) return `${first} to now`;
  const end = Date.parse(to);
  // The instant after a whole day is the end of that day.
  const last = isMidnight(end) ? DAY.format(end - DAY_MS) : MOMENT.format(end);
  return first === last ? first : `${first} to ${last}`;
}

const isMidnight = (ms: number): boolean => ms % DAY_MS === 0;
const momentText = (ms: number): string => (isMidnight(ms) ? DAY : MOMENT).format(ms);

/** A group of a dimension: days, weeks (by their Monday) and months as people write them, names as they are. */
function groupText(dimension: DimensionName | undefined, group: string): string {
  if (dimension === "month" && /^\d{4}-\d{2}$/.test(group)) return MONTH.format(Date.parse(`${group}-01`));
  if ((dimension === "day" || dimension === "week") && /^\d{4}-\d{2}-\d{2}$/.test(group)) {
    return DAY.format(Date.parse(group));
  }
  return group;
}
