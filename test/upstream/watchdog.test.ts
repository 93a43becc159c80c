import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { startWatchdog, type Watched } from "#gateway/upstream/watchdog.ts";

const clock = { now: () => new Date(0), monotonicMs: () => 1_000 };
const watched = (deadlineMs: number, expire: () => void = () => undefined): Watched => ({
  deadlineMs,
  expire,
});

test("what is late is ended once, and nothing else", async () => {
  const ended: string[] = [];
  const watchdog = startWatchdog(clock, 5);
  const released = watched(900, () => ended.push("released"));
  for (const it of [
    released,
    watched(1_000, () => ended.push("late")),
    watched(1_001, () => ended.push("early")),
  ])
    watchdog.watch(it);
  watchdog.release(released);
  watchdog.release(released);
  // Takes the place that was left.
  watchdog.watch(watched(999, () => ended.push("later")));
  await Bun.sleep(30);
  watchdog.close();
  expect(ended.toSorted()).toEqual(["late", "later"]);
});

test("what is watched no longer is garbage that a young collection takes", async () => {
  const watchdog = startWatchdog(clock);
  let rubbish: unknown;
  const call = async () => {
    const controller = new AbortController();
    const it = watched(2_000, () => controller.abort());
    watchdog.watch(it);
    // As a call does, so that young collections happen.
    rubbish = Array.from({ length: 300 }, (_, n) => ({ n, text: `${n}` }));
    await new Promise((done) => setImmediate(done));
    watchdog.release(it);
  };
  for (let i = 0; i < 2_000; i++) await Promise.all(Array.from({ length: 8 }, call));
  watchdog.close();
  expect(rubbish).toBeDefined();
  expect(heapStats().objectTypeCounts["AbortController"]).toBeLessThan(8_000);
});
