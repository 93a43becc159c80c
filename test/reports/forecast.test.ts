import { describe, expect, test } from "bun:test";
import { anomaliesOf, type DayCost, forecastOf } from "#gateway/reports/forecast.ts";
import { forecastFigures } from "#test/bench/forecast/figures.ts";

/** `count` days up to the one before `end`. */
const daysBefore = (end: string, count: number, usdOf: (day: Date) => number): DayCost[] =>
  Array.from({ length: count }, (_, at) => {
    const day = new Date(Date.parse(end) - (count - at) * 86_400_000);
    return { day: day.toISOString().slice(0, 10), usd: usdOf(day) };
  });
const weekly = (day: Date) => (day.getUTCDay() % 6 === 0 ? 0 : 10);
const NOVEMBER = { from: "2026-11-01", to: "2026-12-01", today: "2026-11-16" };

test("in generated worlds, months, spikes and false alarms are within what the docs say", () => {
  const { error, within, recall, falseAlarms } = forecastFigures(1000, 10);
  expect(Math.max(error.companies, error.teams)).toBeLessThan(0.08);
  expect([within.companies, within.teams].every((share) => share > 0.7 && share < 0.92)).toBe(true);
  expect(recall).toBeGreaterThan(0.9);
  expect(falseAlarms).toBeLessThan(1);
});

describe("a forecast", () => {
  test("of a steady week is exact, with free weekends and with what today has cost so far", () => {
    const days = daysBefore(NOVEMBER.today, 84, weekly);
    // November 2026 has 21 working days.
    expect(forecastOf(days, NOVEMBER)).toEqual({
      spentUsd: 100,
      expectedUsd: 210,
      lowUsd: 210,
      highUsd: 210,
    });
    const withToday = [...days, { day: NOVEMBER.today, usd: 4 }];
    expect(forecastOf(withToday, NOVEMBER)).toMatchObject({ spentUsd: 104, expectedUsd: 210 });
    const over = forecastOf([...days, { day: NOVEMBER.today, usd: 50 }], NOVEMBER);
    expect(over).toMatchObject({ spentUsd: 150, expectedUsd: 250 });
  });

  test("needs two weeks, and a spike of the past is not expected again", () => {
    expect(forecastOf(daysBefore(NOVEMBER.today, 13, weekly), NOVEMBER)).toBeNull();
    expect(forecastOf([], NOVEMBER)).toBeNull();
    const spiked = daysBefore(NOVEMBER.today, 84, (day) =>
      day.toISOString().startsWith("2026-10-20") ? 500 : weekly(day),
    );
    const made = forecastOf(spiked, NOVEMBER);
    expect(Math.abs((made?.expectedUsd ?? 0) - 210)).toBeLessThan(5);
  });
});

describe("an anomaly", () => {
  const judged = (usd: number, usual: () => number = () => 10) =>
    anomaliesOf([...daysBefore("2026-11-16", 84, usual), { day: "2026-11-16", usd }], "2026-11-16");

  test("is a day far above the same weekday, and not one that is usual, cheap or without a past", () => {
    expect(judged(30)).toEqual([{ day: "2026-11-16", usd: 30, usualUsd: 10 }]);
    expect(judged(19)).toEqual([]);
    expect(judged(0.9, () => 0.1)).toEqual([]);
    expect(anomaliesOf([{ day: "2026-11-16", usd: 1000 }], "2026-11-16")).toEqual([]);
    const young = daysBefore("2026-11-16", 20, weekly);
    expect(anomaliesOf([...young, { day: "2026-11-16", usd: 1000 }], "2026-11-16")).toEqual([]);
  });

  test("is judged by the days before it alone", () => {
    const days = daysBefore("2026-11-16", 84, weekly);
    const after = daysBefore("2026-11-30", 14, () => 400);
    const alone = anomaliesOf([...days, { day: "2026-11-16", usd: 400 }], "2026-11-16");
    expect(anomaliesOf([...days, ...after], "2026-11-16")[0]).toEqual(alone[0]);
  });
});
