import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { reportQueue } from "#gateway/stores/reports/report-queue.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A queue whose maker makes two orders at once, and what it was told. */
function watched() {
  const told: string[] = [];
  const queue = reportQueue<string, string>(
    {
      start: (id, order) => told.push(`${id} ${order}`),
      forget: (id) => told.push(`${id} forgotten`),
      hung: () => told.push("hung"),
    },
    { atOnce: 2 },
  );
  return { told, queue };
}

test("what nobody waits for any more is not even begun", async () => {
  const { told, queue } = watched();
  const outcome = await queue.add("report", 1, AbortSignal.abort()).catch((error) => error.type);
  expect([outcome, told]).toEqual(["reports_unavailable", []]);
});

test("an order that waits for the reports of another does not hang, but both do once nothing is said", () => {
  const { told, queue } = watched();
  for (const order of ["long", "short"]) void queue.add(order, 1, undefined);
  for (let seconds = 0; seconds < 600; seconds += 60) {
    jest.advanceTimersByTime(60_000);
    queue.progress();
  }
  expect(told).toEqual(["0 long", "1 short"]);
  jest.advanceTimersByTime(130_000);
  expect(told).toEqual(["0 long", "1 short", "hung", "hung"]);
});
