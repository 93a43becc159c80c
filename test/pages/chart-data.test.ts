import { expect, test } from "bun:test";
import { gapless, singleSeries } from "#gateway/pages/parts/charts/data.ts";
import type { MeasureName, Result } from "#shared/report.ts";

const day = (group: string, current: number | null, previous: number | null, measure: MeasureName) => ({
  groups: [group],
  current: current === null ? null : { [measure]: current },
  previous: previous === null ? null : { [measure]: previous },
  delta: null,
  floor: false,
  previousFloor: false,
});

const result = (measure: MeasureName): Result => ({
  spec: {
    source: "requests",
    dimensions: ["day"],
    measures: [measure],
    filters: {},
    range: { from: "2026-11-04", to: "2026-11-06" },
    compare: "previous_period",
    view: "bar",
  },
  window: { from: "2026-11-04T00:00:00.000Z", to: "2026-11-07T00:00:00.000Z" },
  previousWindow: { from: "2026-11-01T00:00:00.000Z", to: "2026-11-04T00:00:00.000Z" },
  rows: [
    day("2026-11-01", null, 7, measure),
    day("2026-11-03", null, 30, measure),
    day("2026-11-04", 5, null, measure),
    day("2026-11-06", 9, null, measure),
  ],
  total: { groups: [], current: null, previous: null, delta: null, floor: false, previousFloor: false },
  decomposition: null,
  coverage: null,
});

test("a day without records has spent nothing, now and before", () => {
  const data = singleSeries({ result: result("cost_usd"), measure: "cost_usd", unit: "USD" });
  expect(data.series[0]?.values).toEqual([5, 0, 9]);
  expect(data.previous).toEqual([7, 0, 30]);
});

test("but what is no sum has no figure on such a day, and its line has a gap", () => {
  const { series, previous } = singleSeries({
    result: result("cost_per_user"),
    measure: "cost_per_user",
    unit: "USD",
  });
  expect([series[0]?.values, previous]).toEqual([
    [5, null, 9],
    [7, null, 30],
  ]);
  expect(gapless(series[0]?.values ?? []).map((run) => run.map(({ value }) => value))).toEqual([[5], [9]]);
});
