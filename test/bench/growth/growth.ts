/** A month of the simulation, at its end. Sizes are megabytes on disk, indexes and free space in tables included. */
export type Month = {
  month: number;
  kept: number;
  records: number;
  sums: number;
  merges: number;
  others: number;
};
export type Growth = { measuredOn: string; callsPerHour: number; retentionDays: number; months: Month[] };

const BEGIN = "<!-- Growth: bun test/bench/growth/main.ts --write -->";
const END = "<!-- End of growth -->";

/** The page with its tables made of these figures. @throws Error for a page without the place for them. */
export function withGrowth(page: string, growth: Growth): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error("the page has no place for growth");
  return `${before}${BEGIN}\n\n${textOf(growth)}\n\n${END}${after}`;
}

const SHOWN = [1, 3, 6, 9, 12, 13, 14, 15, 18, 21, 24];
const RATES = [100, 1_000, 10_000];
const number = (value: number): string => Math.round(value).toLocaleString("en-US");
const sizeOf = ({ records, sums, merges, others }: Month): number => records + sums + merges + others;

function textOf({ measuredOn, callsPerHour, retentionDays, months }: Growth): string {
  const last = months.at(-1)?.month ?? 0;
  const rows = months.filter(({ month }) => SHOWN.includes(month) || month === last);
  const at = (month: number) => months.find((one) => one.month === month);
  const size = (month: number, rate: number) => {
    const one = at(month);
    return one ? number(((one.records + one.sums) * rate) / callsPerHour + one.merges + one.others) : "";
  };
  return [
    `Simulated on ${measuredOn}: ${number(callsPerHour)} calls an hour day and night, \`retention_days\` ${retentionDays}. Megabytes:`,
    table(
      "Month | Records kept | Records and tool calls | Sums | Merges | All others | Together",
      rows.map((it) =>
        [it.month, it.kept, it.records, it.sums, it.merges, it.others, sizeOf(it)].map(number),
      ),
    ),
    "Computed from it, for organisations that are this many times larger:",
    table(
      `Calls an hour | After 12 months | After ${last} months`,
      RATES.map((rate) => [number(rate), size(12, rate), size(last, rate)]),
    ),
  ].join("\n\n");
}

const table = (head: string, rows: readonly string[][]): string => {
  const columns = head.split(" | ");
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---:")), ...rows.map(line)].join("\n");
};
