import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../../shared/short-slices.ts");

/** In a process of its own: what a thread has asked for stays. */
const inProcess = (script: string, niceness = 0): unknown => {
  const { stdout } = Bun.spawnSync(["nice", "-n", `${niceness}`, process.execPath, "-e", script]);
  return JSON.parse(stdout.toString());
};

test("a thread that took short slices has the kernel's shortest and its old niceness, where the kernel tells slices", () => {
  const [before, after, niceness] = inProcess(
    `const { sliceNs, takeShortSlices } = await import(${JSON.stringify(MODULE)});
     const before = sliceNs(); takeShortSlices();
     console.log(JSON.stringify([before, sliceNs(), require("node:os").getPriority()].map((it) => it === null ? null : Number(it))))`,
    7,
  ) as [number | null, number | null, number];
  expect(niceness).toBe(7);
  if (before !== null) expect(after).toBe(100_000);
});
