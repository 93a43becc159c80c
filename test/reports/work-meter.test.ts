import { expect, test } from "bun:test";
import { workMeter } from "#gateway/stores/reports/work-meter.ts";

function steppedClock() {
  let nowMs = 0;
  return {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("where Postgres works on this machine, a report's time is all that it took, also if it failed", async () => {
  const clock = steppedClock();
  const meter = workMeter(true, clock);
  await meter.during(async () => clock.advance(70));
  clock.advance(1_000);
  const failed = meter.during(async () => {
    clock.advance(30);
    throw new Error("away");
  });
  await failed.catch(() => undefined);
  expect([meter.taken(), meter.taken()]).toEqual([100, 0]);
});

test("where Postgres works elsewhere, a report's time is what this thread computed", async () => {
  const clock = steppedClock();
  const meter = workMeter(false, clock);
  await meter.during(async () => clock.advance(60_000));
  const waited = meter.taken();
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
  const computed = meter.taken();
  expect(waited).toBeLessThan(1_000);
  expect(computed).toBeGreaterThan(5);
});
