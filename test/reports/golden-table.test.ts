import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import type { ReportRunner } from "#gateway/reporting.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import type { DimensionName, MeasureName, Result, Row, SourceName } from "#shared/report.ts";
import { PAYLOAD_DIMENSIONS, PAYLOAD_MEASURES, SOURCES } from "#shared/report.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { ALL } from "#test/support/tiers.ts";

const FIXTURES = join(import.meta.dir, "../fixtures/reports");
/** 28 February to 5 March 2024, beside the seven days before. */
const RANGE = { from: "2024-02-28", to: "2024-03-05" };

/** One line of golden.tsv: a group in one of the windows; `-` stands for the total. */
type Line = {
  dimension: string;
  group: string;
  side: string;
  floor: boolean;
  figures: Map<string, number | null>;
};

const TABLE = await readTable();

async function readTable(): Promise<Map<string, Line[]>> {
  const lines = (await Bun.file(join(FIXTURES, "golden.tsv")).text()).trimEnd().split("\n");
  const table = new Map<string, Line[]>();
  let measures: string[] = [];
  for (const [source = "", dimension = "", group = "", side = "", floor, ...cells] of lines.map((line) =>
    line.split("\t"),
  )) {
    if (dimension === "dimension") {
      measures = cells;
      table.set(source, []);
    } else {
      const figures = new Map(cells.map((cell, i) => [measures[i] ?? "", numberOf(cell)]));
      table.get(source)?.push({ dimension, group, side, floor: floor === "true", figures });
    }
  }
  return table;
}

/** `null`, a decimal, or a fraction such as `11/3`. */
function numberOf(text: string): number | null {
  const [above = "", below = "1"] = text.split("/");
  return text === "null" ? null : Number(above) / Number(below);
}

let runner: ReportRunner;
let quick: ReportRunner;

beforeAll(async () => {
  const database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await sql.unsafe(await Bun.file(join(FIXTURES, "golden.sql")).text());
  await sql.end();
  const engines = await reportEngines(database.url);
  await engines.wrote("default");
  runner = engines.runner();
  quick = engines.quickRunner();
});

/**
 * Every source is asked for its total by both databases, and by each dimension the first source that has it, with `--all`:
 * any report of both is in both-engines.test.ts and reference.test.ts.
 */
const isByBoth = (source: SourceName, dimension: DimensionName): boolean =>
  process.env[ALL] !== undefined &&
  SOURCES.find((other) => sourceOf(other).dimensions.includes(dimension)) === source;

const ask = (source: SourceName, dimensions: DimensionName[], measures: readonly MeasureName[]) =>
  (dimensions.every((dimension) => isByBoth(source, dimension)) ? runner : quick).run(
    checkSpec({
      source,
      dimensions,
      measures: [...measures],
      filters: {},
      range: RANGE,
      compare: "previous_period",
      view: "table",
    }),
    new Date("2024-03-10T00:00:00Z"),
  );

/** What is found, in the form of what is expected: one entry a group, side and measure. */
function found(rows: readonly (Row & { group: string })[]): Record<string, unknown> {
  return Object.fromEntries(
    rows.flatMap(({ group, current, previous, floor, previousFloor }) =>
      (
        [
          ["current", current, floor],
          ["previous", previous, previousFloor],
        ] as const
      ).flatMap(([side, figures, isFloor]) =>
        figures
          ? [
              [`${group} ${side} floor`, isFloor],
              ...Object.entries(figures).map(([name, value]) => [`${group} ${side} ${name}`, value]),
            ]
          : [],
      ),
    ),
  );
}

function expected(lines: readonly Line[]): Record<string, unknown> {
  return Object.fromEntries(
    lines.flatMap(({ group, side, floor, figures }) => [
      [`${group} ${side} floor`, floor],
      ...[...figures].map(([name, value]) => [
        `${group} ${side} ${name}`,
        value === null ? null : expect.closeTo(value, 9),
      ]),
    ]),
  );
}

const grouped = ({ rows }: Result) => rows.map((row) => ({ ...row, group: row.groups.join() }));

describe.each([...SOURCES])("of source %s, every measure", (source) => {
  const lines = TABLE.get(source) ?? [];
  // Words that came later are worked out in words.test.ts.
  const dimensions = sourceOf(source).dimensions.filter((name) => lines.some((it) => it.dimension === name));
  const measures = sourceOf(source).measures.filter((name) => lines[0]?.figures.has(name));
  const of = (dimension: string) => lines.filter((line) => line.dimension === dimension);

  test("stands in the table", () => {
    const legal = sourceOf(source);
    expect(measures).toEqual(
      expect.arrayContaining(PAYLOAD_MEASURES.filter((it) => legal.measures.includes(it))),
    );
    expect(dimensions).toEqual(
      expect.arrayContaining(PAYLOAD_DIMENSIONS.filter((it) => legal.dimensions.includes(it))),
    );
  });

  test("in all is what was worked out, with its floor", async () => {
    const { total } = await ask(source, [], measures);
    expect(found([{ ...total, group: "-" }])).toEqual(expected(of("-")));
  });

  test.each([...dimensions])(
    "by %s is what was worked out, with its floor and its change",
    async (dimension) => {
      const result = await ask(source, [dimension], measures);
      expect(found(grouped(result))).toEqual(expected(of(dimension)));
      expect(found([{ ...result.total, group: "-" }])).toEqual(expected(of("-")));
      for (const { current, previous, delta } of result.rows) {
        for (const name of measures) {
          const [now, before] = [current?.[name] ?? null, previous?.[name] ?? null];
          const change = now === null || before === null ? null : expect.closeTo(now - before, 9);
          expect<unknown[]>([name, delta?.[name] ?? null]).toEqual([name, change]);
        }
      }
    },
  );
});

describe("coverage, read off the rows by hand", () => {
  // The first record of all is that of 20 February; the first tag that of the 25th, the first session that of the 21st.
  test.each<[SourceName, DimensionName, Result["coverage"]]>([
    ["requests", "client", null],
    [
      "requests",
      "tag",
      { dimensionsSince: "2024-02-25T23:59:59.999Z", rowsBefore: 0, previousRowsBefore: 1 },
    ],
    [
      "requests",
      "session",
      { dimensionsSince: "2024-02-21T00:00:00.000Z", rowsBefore: 0, previousRowsBefore: 0 },
    ],
    ["tool_calls", "tag", null],
    ["tool_calls", "session", null],
    ["agent_metrics", "model", null],
    ["outcomes", "subject", null],
    ["outcomes", "session", null],
  ])("of %s by %s", async (source, dimension, coverage) => {
    const [first = "users"] = sourceOf(source).measures;
    expect((await ask(source, [dimension], [first])).coverage).toEqual(coverage);
  });
});
