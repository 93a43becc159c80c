import { expect, test } from "bun:test";
import { gapless, singleSeries } from "#gateway/pages/parts/charts/data.ts";
import { recordSearch } from "#gateway/pages/parts/records-link.tsx";
import type { MeasureName, Result } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";

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

test("days are those of the answer's zone", () => {
  const zoned = {
    ...result("cost_usd"),
    time_zone: "Asia/Tokyo",
    window: { from: "2026-11-03T15:00:00.000Z", to: "2026-11-06T15:00:00.000Z" },
    previousWindow: { from: "2026-10-31T15:00:00.000Z", to: "2026-11-03T15:00:00.000Z" },
  };
  const nowMs = Date.parse("2026-11-06T14:59:00Z");
  const data = singleSeries({ result: zoned, measure: "cost_usd", unit: "USD" }, nowMs);
  expect(data.groups).toEqual(["2026-11-04", "2026-11-05", "2026-11-06"]);
  expect([data.previous, data.incomplete]).toEqual([
    [7, 0, 30],
    [false, false, true],
  ]);
});

const answer = (over: Partial<QueryAnswer>): QueryAnswer => ({
  ...result("cost_usd"),
  empty: false,
  ceiling: false,
  scope: null,
  complete: true,
  time_zone: "UTC",
  as_of: "2026-11-06T12:00:00.000Z",
  ...over,
});

test("the records behind a report are those of its window", () => {
  expect(recordSearch({ model: ["opus"] }, answer({}))).toEqual({
    from: "2026-11-04",
    to: "2026-11-06",
    model: "opus",
  });
  const tokyo = { from: "2026-11-03T15:00:00.000Z", to: "2026-11-06T12:00:00.000Z" };
  const toNow = {
    spec: { ...result("cost_usd").spec, range: "7d" as const },
    window: tokyo,
    time_zone: "Asia/Tokyo",
  };
  expect(recordSearch({}, answer(toNow))).toEqual({ from: tokyo.from });
  expect(recordSearch({ day: ["2026-11-05"] }, answer(toNow))).toEqual({
    from: "2026-11-04T15:00:00.000Z",
    to: "2026-11-05T15:00:00.000Z",
  });
});
