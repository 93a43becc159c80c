import { CALL_KINDS, type CallKind, type Figures } from "./figures.ts";
import { KEPT, RATES, sizeForRate, sizeForRecords } from "./sizing.ts";

const BEGIN = "<!-- Tables: bun test/bench/scale/main.ts --write -->";
const END = "<!-- End of the tables -->";

/** The page with its tables made of these figures. @throws Error for a page without the place for them. */
export function withTables(page: string, figures: Figures): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error("the page has no place for the tables");
  return `${before}${BEGIN}\n\n${tablesOf(figures)}\n\n${END}${after}`;
}

/** Markdown. */
export const tablesOf = (figures: Figures): string =>
  [
    `### Measured on ${figures.cores} cores, ${figures.measuredOn}`,
    callTable(figures),
    storeTable(figures),
    "### Computed: machines for a rate of calls",
    rateTable(figures),
    "### Computed: disks and reports for records kept",
    keptTable(figures),
  ].join("\n\n");

const callTable = ({ calls, merge }: Figures): string =>
  table("Call | Gateway, µs of CPU | Postgres, µs of CPU | Calls/s here", [
    ...(Object.keys(CALL_KINDS) as CallKind[]).map((kind) => {
      const { gateway, postgres, perSecond } = calls[kind];
      return [CALL_KINDS[kind], count(gateway), count(postgres), count(perSecond)];
    }),
    [
      "a merged pull request (the App in place of the gateway)",
      count(merge.app * 1000),
      count(merge.postgres * 1000),
      "",
    ],
  ]);

const storeTable = ({ records, postgres, clickhouse }: Figures): string =>
  table(
    `Of so many records | Postgres, ${count(records)} | ClickHouse's engine, ${count(clickhouse.records)}`,
    [
      ["Bytes of a record, with indexes", String(postgres.recordBytes), String(clickhouse.recordBytes)],
      ["Bytes of its sums", String(postgres.sumBytes), String(clickhouse.sumBytes)],
      ["CPU of its sums, µs", count(postgres.sumCpu), count(clickhouse.sumCpu)],
      ["CPU of storing it there, µs", "", count(clickhouse.insertCpuPerMillion)],
      [
        "Built-in reports, p95: fastest to slowest",
        `${postgres.fastestMs} to ${postgres.slowestMs} ms`,
        clickhouse.slowestMs === null ? "" : `${clickhouse.fastestMs} to ${clickhouse.slowestMs} ms`,
      ],
      ["CPU of the slowest report for a million records, s", "", clickhouse.reportCpuPerMillion.toFixed(2)],
    ],
  );

const rateTable = (figures: Figures): string =>
  table(
    "Calls/s at the peak | Records a month | Gateway, vCPU | Postgres, vCPU | ClickHouse, vCPU | Saturates first | USD a month",
    RATES.map((rate) => {
      const { recordsPerMonth, cores, saturates, usdPerMonth } = sizeForRate(rate, figures);
      return [
        count(rate),
        count(recordsPerMonth),
        String(cores.gateway),
        String(cores.Postgres),
        cores.ClickHouse === undefined ? "none" : `2 × ${cores.ClickHouse / 2}`,
        `${saturates.part}, ${(saturates.busy * 100).toFixed(saturates.busy < 0.1 ? 1 : 0)}% busy`,
        count(usdPerMonth),
      ];
    }),
  );

const keptTable = (figures: Figures): string =>
  table(
    "Records kept | Reports from | Postgres, disk | ClickHouse, disk | ClickHouse, vCPU | USD a month | Basis",
    KEPT.map((records) => {
      const size = sizeForRecords(records, figures);
      return [
        count(records),
        size.store,
        bytes(size.postgresGigabytes),
        size.clickhouseGigabytes === null ? "none" : `2 × ${bytes(size.clickhouseGigabytes / 2)}`,
        size.clickhouseCores === null ? "none" : `2 × ${count(size.clickhouseCores)}`,
        count(size.usdPerMonth),
        size.isMeasured ? "measured" : "computed",
      ];
    }),
  );

function table(head: string, rows: readonly (readonly string[])[]): string {
  const columns = head.split(" | ");
  const lines = [columns, columns.map((_, at) => (at === 0 ? "---" : "---:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const UNITS = ["million", "billion"] as const;

/** Two digits are as much as is known. */
function count(value: number): string {
  const rounded = Number(value.toPrecision(2));
  if (rounded < 1e6) return rounded.toLocaleString("en-US");
  const unit = rounded < 1e9 ? 0 : 1;
  return `${rounded / 1000 ** (unit + 2)} ${UNITS[unit]}`;
}

const bytes = (gigabytes: number): string =>
  gigabytes < 1000 ? `${count(gigabytes)} GB` : `${count(gigabytes / 1000)} TB`;
