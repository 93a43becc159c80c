import { expect, test } from "bun:test";
import { join } from "node:path";
import { startWatchdog, type Watched } from "#gateway/upstream/watchdog.ts";
import { until } from "#test/support/until.ts";

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
  await until(() => ended.length === 2);
  watchdog.watch(watched(0, () => ended.push("last")));
  await until(() => ended.includes("last"));
  watchdog.close();
  expect(ended.toSorted()).toEqual(["last", "late", "later"]);
});

/** In a process of its own, because it counts what is in the memory of one. */
const MANY_CALLS = `
  import { heapStats } from "bun:jsc";
  import { startWatchdog } from ${JSON.stringify(join(import.meta.dir, "../../gateway/upstream/watchdog.ts"))};
  const watchdog = startWatchdog({ now: () => new Date(0), monotonicMs: () => 1_000 });
  let rubbish;
  const call = async () => {
    const controller = new AbortController();
    const it = { deadlineMs: 2_000, expire: () => controller.abort() };
    watchdog.watch(it);
    // As a call does, so that young collections happen.
    rubbish = Array.from({ length: 300 }, (_, n) => ({ n, text: \`\${n}\` }));
    await new Promise((done) => setImmediate(done));
    watchdog.release(it);
  };
  for (let i = 0; i < 2_000; i++) await Promise.all(Array.from({ length: 8 }, call));
  watchdog.close();
  console.log(rubbish.length && heapStats().objectTypeCounts["AbortController"]);
`;

test("what is watched no longer is garbage that a young collection takes", async () => {
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", MANY_CALLS], { stdout: "pipe" });
  expect(Number(await new Response(child.stdout).text())).toBeWithin(1, 8_000);
});
