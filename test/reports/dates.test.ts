import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import type { ReportRunner } from "#gateway/reporting.ts";
import { dateFault } from "#gateway/reports/dates.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import type { DimensionName, Range, Spec } from "#shared/report.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { seed } from "./world.ts";

/** An instant, and the day, the week (its Monday) and the month that it belongs to. */
const DATES = [
  ["2024-02-28T23:59:59.999Z", "2024-02-28", "2024-02-26", "2024-02"],
  ["2024-02-29T00:00:00.000Z", "2024-02-29", "2024-02-26", "2024-02"],
  ["2024-02-29T23:59:59.999Z", "2024-02-29", "2024-02-26", "2024-02"],
  ["2024-03-01T00:00:00.000Z", "2024-03-01", "2024-02-26", "2024-03"],
  ["2024-03-03T23:59:59.999Z", "2024-03-03", "2024-02-26", "2024-03"],
  ["2024-03-04T00:00:00.000Z", "2024-03-04", "2024-03-04", "2024-03"],
  // A week that begins in one year and ends in the next.
  ["2024-12-29T23:59:59.999Z", "2024-12-29", "2024-12-23", "2024-12"],
  ["2024-12-30T00:00:00.000Z", "2024-12-30", "2024-12-30", "2024-12"],
  ["2024-12-31T23:59:59.999Z", "2024-12-31", "2024-12-30", "2024-12"],
  ["2025-01-01T00:00:00.000Z", "2025-01-01", "2024-12-30", "2025-01"],
  ["2025-01-05T23:59:59.999Z", "2025-01-05", "2024-12-30", "2025-01"],
  ["2025-01-06T00:00:00.000Z", "2025-01-06", "2025-01-06", "2025-01"],
  // No leap day in 2025 and 2100.
  ["2025-02-28T23:59:59.999Z", "2025-02-28", "2025-02-24", "2025-02"],
  ["2025-03-01T00:00:00.000Z", "2025-03-01", "2025-02-24", "2025-03"],
  ["2100-02-28T23:59:59.999Z", "2100-02-28", "2100-02-22", "2100-02"],
  ["2100-03-01T00:00:00.000Z", "2100-03-01", "2100-03-01", "2100-03"],
  // Where clocks elsewhere are changed, nothing happens in UTC.
  ["2026-03-29T01:30:00.000Z", "2026-03-29", "2026-03-23", "2026-03"],
  ["2026-10-25T01:30:00.000Z", "2026-10-25", "2026-10-19", "2026-10"],
] as const;

let runner: ReportRunner;
beforeAll(async () => {
  const database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await seed(sql, "default", { requests: DATES.map(([at]) => ({ at, session: at.replaceAll(":", ".") })) });
  await sql.end();
  const engines = await reportEngines(database.url);
  await engines.wrote("default");
  runner = engines.runner();
});

async function groups(dimensions: DimensionName[], range: Range, filters: Spec["filters"] = {}) {
  const spec = { source: "requests", dimensions, measures: ["requests"], filters, range };
  const checked = checkSpec({ ...spec, compare: "none", view: "table" });
  const { rows } = await runner.run(checked, new Date("2101-01-01T00:00:00Z"));
  return rows.map((row) => [...row.groups, row.current?.requests ?? null]);
}
const EVER: Range = { from: null, to: null };

describe("dates in, dates out", () => {
  test.each([
    ["day", 1],
    ["week", 2],
    ["month", 3],
  ] as const)("each instant belongs to its %s in UTC", async (dimension, column) => {
    const counts = Map.groupBy(DATES, (date) => date[column]);
    const expected = [...counts].map(([name, of]) => [name, of.length]);
    expect(await groups([dimension], EVER)).toEqual(expected.sort());
  });

  test("a filter by day, week or month takes what belongs to it", async () => {
    expect(await groups(["month"], EVER, { week: ["2024-12-30"] })).toEqual([
      ["2024-12", 2],
      ["2025-01", 2],
    ]);
    expect(await groups(["day"], EVER, { month: ["2024-02"], day: ["2024-02-29"] })).toEqual([
      ["2024-02-29", 2],
    ]);
  });

  test.each<[string, string, string[]]>([
    // The first millisecond of a window belongs to it, and the one that it ends with does not.
    ["2024-02-29", "2024-02-29", ["2024-02-29T00.00.00.000Z", "2024-02-29T23.59.59.999Z"]],
    ["2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z", ["2024-02-29T00.00.00.000Z"]],
    ["2024-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z", ["2024-02-28T23.59.59.999Z"]],
    [
      "2024-12-31T23:59:59.999Z",
      "2025-01-01T00:00:00.001Z",
      ["2024-12-31T23.59.59.999Z", "2025-01-01T00.00.00.000Z"],
    ],
    ["2025-02-28", "2025-02-28", ["2025-02-28T23.59.59.999Z"]],
    ["2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00.001Z", ["2026-03-29T01.30.00.000Z"]],
  ])("from %p to %p", async (from, to, sessions) => {
    expect((await groups(["session"], { from, to })).map(([session]) => session)).toEqual(sessions);
  });
});

describe("a filter by time", () => {
  test.each<[DimensionName, string, boolean]>([
    ["day", "2024-02-29", true],
    ["day", "2025-02-29", false],
    ["day", "2026-11-31", false],
    ["day", "2026-1-1", false],
    ["day", "20261120", false],
    ["day", "2026-11-20T00:00:00Z", false],
    ["day", "(none)", false],
    ["day", "today", false],
    ["week", "2026-11-16", true],
    ["week", "2024-12-30", true],
    ["week", "2026-11-17", false],
    ["week", "2026-W47", false],
    ["month", "2026-11", true],
    ["month", "2026-13", false],
    ["month", "2026-00", false],
    ["month", "2026-11-20", false],
    ["client", "anything", true],
  ])("%s %p: whether it can be", (dimension, text, usable) => {
    expect(dateFault(dimension, text) === null).toBe(usable);
  });

  test("that is no date is refused by its place in the spec", () => {
    const spec = { source: "requests", dimensions: [], measures: ["requests"], range: "7d", compare: "none" };
    const filters = { day: ["2026-11-20", "soon"] };
    expect(() => checkSpec({ ...spec, filters, view: "table" })).toThrow(
      "spec.filters.day[1]: must be a day, such as 2026-11-20",
    );
  });
});
