import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { reportGate } from "#gateway/stores/reports/report-gate.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A gate whose maker makes two reports at once, and what the maker was told. */
function watched() {
  const told: string[] = [];
  const gate = reportGate<string, string>(
    {
      start: (id, order) => told.push(`${id} ${order}`),
      forget: (id) => told.push(`${id} forgotten`),
      hung: () => told.push("hung"),
    },
    2,
  );
  return { told, gate };
}

test("what nobody waits for any more is not even begun", async () => {
  const { told, gate } = watched();
  const outcome = await gate.add("report", 1, AbortSignal.abort()).catch((error) => error.type);
  expect([outcome, told]).toEqual(["reports_unavailable", []]);
});

test("orders start in turn: no more reports are made at once than may, and several take every turn", async () => {
  const { told, gate } = watched();
  const orders = [1, 1, 48, 1].map((reports, i) =>
    gate.add(`of ${reports}`, reports, undefined).then(() => i),
  );
  expect(told).toEqual(["0 of 1", "1 of 1"]);
  gate.settle(1, "made");
  // Whatever comes later does not overtake it.
  expect(told).toEqual(["0 of 1", "1 of 1"]);
  gate.settle(0, "made");
  expect(told).toEqual(["0 of 1", "1 of 1", "2 of 48"]);
  gate.settle(2, "made");
  gate.settle(3, "made");
  expect(await Promise.all(orders)).toEqual([0, 1, 2, 3]);
});

test("an order that waits longer than a minute is refused, and its place is free", async () => {
  const { told, gate } = watched();
  void gate.add("long", 2, undefined);
  const late = gate.add("late", 198, undefined).catch((error) => error.type);
  jest.advanceTimersByTime(60_000);
  expect(await late).toBe("overloaded");
  void gate.add("next", 198, undefined);
  gate.settle(0, "made");
  expect(told).toEqual(["0 long", "2 next"]);
});

test("an order of many reports does not hang while it says so, and is given up once it says nothing", () => {
  const { told, gate } = watched();
  void gate.add("long", 2, undefined);
  for (let seconds = 0; seconds < 600; seconds += 60) {
    jest.advanceTimersByTime(60_000);
    gate.progress(0);
  }
  expect(told).toEqual(["0 long"]);
  jest.advanceTimersByTime(130_000);
  expect(told).toEqual(["0 long", "hung"]);
});
