import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../../gateway/stores/time-slices.ts");
const GIVE_WAY = join(import.meta.dir, "../../gateway/stores/give-way.ts");

/** In a process of its own: what a thread was given stays. */
const inProcess = (script: string, niceness: number): unknown => {
  const { stdout } = Bun.spawnSync(["nice", "-n", `${niceness}`, process.execPath, "-e", script]);
  return JSON.parse(stdout.toString());
};

test("a thread whose slices were lengthened has the kernel's longest and its old niceness, where the kernel tells slices", () => {
  const [before, after, niceness] = inProcess(
    `const { lengthenSlices, sliceNs, THIS_THREAD } = await import(${JSON.stringify(MODULE)});
     const slice = () => sliceNs(THIS_THREAD) === null ? null : Number(sliceNs(THIS_THREAD));
     const before = slice();
     lengthenSlices(THIS_THREAD);
     console.log(JSON.stringify([before, slice(), require("node:os").getPriority()]));`,
    7,
  ) as [number | null, number | null, number];
  expect(niceness).toBe(7);
  if (before !== null) expect(after).toBe(100_000_000);
});

test("a thread that leaves cores free keeps its longest slices, and being told again changes nothing", () => {
  const [before, after, slice] = inProcess(
    `const { leaveCoresFree, leavesCoresFree, lengthenSlices, sliceNs, THIS_THREAD } = await import(${JSON.stringify(MODULE)});
     const before = leavesCoresFree(THIS_THREAD);
     lengthenSlices(THIS_THREAD);
     leaveCoresFree(THIS_THREAD);
     leaveCoresFree(THIS_THREAD);
     lengthenSlices(THIS_THREAD);
     const slice = sliceNs(THIS_THREAD);
     console.log(JSON.stringify([before, leavesCoresFree(THIS_THREAD), slice === null ? null : Number(slice)]));`,
    0,
  ) as [boolean | null, boolean | null, number | null];
  expect(after).toBe(before === null ? null : true);
  if (slice !== null) expect(slice).toBe(100_000_000);
});

test("the runtime's own threads have the longest slices and interrupt nothing once they give way, also those that start later, unlike the one that answers calls", () => {
  const [own, ...helpers] = inProcess(
    `const { neverInterrupts, sliceNs, THIS_THREAD } = await import(${JSON.stringify(MODULE)});
     const { helpersGiveWay } = await import(${JSON.stringify(GIVE_WAY)});
     const { existsSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
     const { Worker } = require("node:worker_threads");
     // What is run often is compiled by another thread, and what is collected, by several.
     const often = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; };
     for (let i = 0; i < 2000; i++) often(1000);
     Bun.gc(true);
     await Bun.sleep(20);
     helpersGiveWay(10);
     // One that starts later.
     const tasks = "/proc/self/task";
     const threads = () => (existsSync(tasks) ? readdirSync(tasks) : []);
     const before = new Set(threads());
     const later = new Worker("setInterval(() => {}, 1000)", { eval: true });
     await new Promise((started) => later.once("online", started));
     for (const thread of threads()) if (!before.has(thread)) writeFileSync(tasks + "/" + thread + "/comm", "JITWorker");
     await Bun.sleep(50);
     const named = (thread) => readFileSync(tasks + "/" + thread + "/comm", "utf8");
     const helpers = threads().filter((thread) => /^(JITWorker|HeapHelper|mi-scavenger)/.test(named(thread)));
     console.log(JSON.stringify([THIS_THREAD, ...helpers.map(Number)].map((thread) => (
       { tells: sliceNs(thread) !== null, isLongest: sliceNs(thread) === 100_000_000n, interrupts: neverInterrupts(thread) === false }))));
     process.exit(0);`,
    0,
  ) as { tells: boolean; isLongest: boolean; interrupts: boolean }[];
  // Where the kernel does not tell, there is nothing to compare.
  if (!own?.tells) return;
  expect(own).toEqual({ tells: true, isLongest: false, interrupts: true });
  expect(new Set(helpers.map(({ isLongest }) => isLongest))).toEqual(new Set([true]));
  expect(new Set(helpers.map(({ interrupts }) => interrupts))).toEqual(new Set([false]));
});
