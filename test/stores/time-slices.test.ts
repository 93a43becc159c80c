import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../../gateway/stores/time-slices.ts");

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
