import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { reachedFrom } from "#test/support/import-graph.ts";
import { isSlow, SLOW } from "#test/support/tiers.ts";

const ROOT = join(import.meta.dir, "../..");
const suites = await Array.fromAsync(new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT));

test("each row of the slow suites names suites that exist", () => {
  const empty = Object.keys(SLOW).filter((key) => !existsSync(join(ROOT, "test", key)));
  expect(empty).toEqual([]);
});

test("what guards a slow suite's promise every time is a suite that runs every time", () => {
  const wrong = Object.entries(SLOW).flatMap(([key, { guardedBy }]) => {
    const guards = guardedBy.match(/[\w-]+\/[\w/-]+(?:\.test)?\b/g) ?? [];
    const found = guards.every((guard) =>
      suites.some((suite) => suite.startsWith(`test/${guard}`) && !isSlow(suite)),
    );
    return guards.length > 0 && found ? [] : [`${key}: ${guardedBy}`];
  });
  expect(wrong).toEqual([]);
});

test("a change reaches the suites that import it, at any depth, and those that start its program", () => {
  // By imports alone.
  expect(reachedFrom("test/pricing/price.test.ts").has("gateway/pricing/price.ts")).toBe(true);
  // By the name of the program that its support starts.
  expect(reachedFrom("test/faults/kill-nine.test.ts").has("gateway/recorder/recorder.ts")).toBe(true);
  expect(reachedFrom("test/pricing/price.test.ts").has("gateway/recorder/recorder.ts")).toBe(false);
});
