import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { reportQueue } from "#gateway/stores/reports/report-queue.ts";
import { reportShare } from "#gateway/stores/reports/share.ts";

/** Milliseconds of work of each report. */
const WORK_MS = 60;

let nowMs = 0;
beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
});
afterEach(() => void jest.useRealTimers());

/** Time goes on by steps of a millisecond, so that clock and timers stay together. */
function pass(ms: number, each?: () => void): void {
  for (let i = 0; i < ms; i++) {
    nowMs++;
    jest.advanceTimersByTime(1);
    each?.();
  }
}

type World = { calls?: "running" | "short" | "none"; cores?: number; workMs?: number; atOnce?: number };

/** A queue of reports that each work for a time, and whether calls are served beside them. */
function world({ calls = "short", cores = 2, workMs = WORK_MS, atOnce = 1 }: World = {}) {
  const counts = { open: calls === "running" ? 1 : 0, settled: 0 };
  const began: number[] = [];
  const waits: number[] = [];
  const share = reportShare({
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    // Calls that are too short to be met under way.
    calls: () => ({ ...counts, settled: counts.settled + (calls === "short" ? Math.floor(nowMs / 7) : 0) }),
    waited: (ms) => waits.push(ms),
    cores,
  });
  const queue = reportQueue<string, string>(
    {
      start: (id) => {
        began.push(nowMs);
        setTimeout(() => {
          share.spend(workMs);
          queue.settle(id, "made");
        }, workMs);
      },
      forget: () => undefined,
      hung: () => undefined,
    },
    { atOnce, share },
  );
  const add = (signal?: AbortSignal) => void queue.add("report", 1, signal).catch(() => undefined);
  /** Four askers, of whom each asks again once it has an answer. */
  const hammer = (ms: number) => {
    for (let i = 0; i < 4; i++) add();
    let answered = 0;
    const before = began.length;
    pass(ms, () => {
      for (; answered < began.length - before - 1; answered++) add();
    });
    return (began.length - before) * workMs;
  };
  return { share, counts, began, waits, add, hammer };
}

describe("beside calls", () => {
  test("a dozen reports at once wait for nothing but each other", () => {
    const { add, began, waits } = world();
    pass(100);
    for (let i = 0; i < 12; i++) add();
    pass(12 * WORK_MS);
    expect(began).toEqual(Array.from({ length: 12 }, (_, i) => 100 + i * WORK_MS));
    expect(waits).toEqual(Array.from({ length: 12 }, () => 0));
  });

  test.each(["short", "running"] as const)("reports without a pause are held to their share: %s", (calls) => {
    const { hammer } = world({ calls });
    hammer(10_000);
    expect(hammer(20_000) / 20_000).toBeCloseTo(0.25, 1);
  });

  test("with more cores reports get more, and all they can use from sixteen on", () => {
    const shares = [2, 4, 16].map((cores) => {
      const { hammer } = world({ cores, atOnce: 1 });
      hammer(10_000);
      return Math.round((hammer(10_000) / 10_000) * 10) / 10;
    });
    expect(shares).toEqual([0.3, 0.5, 1]);
  });

  test("a report waits two seconds at most, however long the ones before it worked", () => {
    const { hammer, waits } = world({ workMs: 5_000 });
    hammer(60_000);
    expect(waits.length).toBeGreaterThan(6);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    expect(waits.at(-1)).toBe(2_000);
  });

  test("a pause gives a dozen reports their time again", () => {
    const { hammer, add, began } = world();
    hammer(10_000);
    pass(12_000);
    began.length = 0;
    const fromMs = nowMs;
    for (let i = 0; i < 12; i++) add();
    pass(12 * WORK_MS);
    expect(began.at(-1)).toBe(fromMs + 11 * WORK_MS);
  });

  test("one whose asker leaves while it waits makes place for the next", () => {
    const { add, began, waits } = world({ workMs: 5_000 });
    const gone = new AbortController();
    add();
    pass(5_000);
    add(gone.signal);
    add();
    pass(500);
    gone.abort();
    pass(2_000);
    // The debt is the same, whoever waits for it.
    expect(began).toEqual([0, 7_000]);
    expect(waits).toEqual([0, 1_500]);
  });
});

test("without calls no report waits", () => {
  const { hammer, waits } = world({ calls: "none" });
  expect(hammer(10_000) / 10_000).toBeCloseTo(1, 1);
  expect(new Set(waits)).toEqual(new Set([0]));
});

test("what waits begins a second after the last call", () => {
  const { share, counts, add, began } = world({ calls: "none", workMs: 5_000 });
  counts.open = 1;
  add();
  pass(5_000);
  add();
  pass(100);
  expect(began).toEqual([0]);
  expect(share.isBesideCalls()).toBe(true);
  counts.open = 0;
  counts.settled++;
  pass(1_500);
  expect(began).toHaveLength(2);
  expect(began[1]).toBeLessThanOrEqual(6_400);
  expect(share.isBesideCalls()).toBe(false);
});

test("no timer is left when nobody waits any more", () => {
  const { add, hammer } = world({ workMs: 3_000 });
  hammer(3_001);
  pass(30_000);
  expect(jest.getTimerCount()).toBe(0);
  add();
  pass(3_000);
  const gone = new AbortController();
  add(gone.signal);
  pass(10);
  expect(jest.getTimerCount()).toBeGreaterThan(0);
  gone.abort();
  expect(jest.getTimerCount()).toBe(0);
});
