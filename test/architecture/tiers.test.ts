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

/** Of the tests that run with `--all` alone: their file, and what guards their promise every time. */
async function longTests(): Promise<[string, string][]> {
  const of = async (suite: string): Promise<[string, string][]> =>
    [...(await Bun.file(join(ROOT, suite)).text()).matchAll(/\blongTest\(\s*"([^"]*)"/g)].map(
      ([, it = ""]) => [suite, it],
    );
  return (await Promise.all(suites.map(of))).flat();
}

test("what guards a slow test's promise every time is a suite that runs every time", async () => {
  const slow = Object.entries(SLOW).map(([key, { guardedBy }]): [string, string] => [key, guardedBy]);
  const long = await longTests();
  expect(long.length).toBeGreaterThan(0);
  const wrong = [...slow, ...long].flatMap(([key, guardedBy]) => {
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
