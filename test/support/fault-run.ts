import { test } from "bun:test";
import { ALL } from "./tiers.ts";

/** Whether the fault suite runs in full (`test --all`, `test:faults`); `test` takes a short form of it. */
export const isFaultRun = process.env[ALL] === "1";

/** The cases of a test: the first `short` of them in `test`, each of them in a fault run. */
export const casesOf = <T>(cases: readonly T[], short = 1): readonly T[] =>
  isFaultRun ? cases : cases.slice(0, short);

/**
 * A test of `bun run test --all` alone; elsewhere it does not exist, so that none is counted as skipped. `guardedBy` names the
 * suites that guard the same promise every time, like the rows of `SLOW`: test/architecture/tiers.test.ts checks that they run.
 */
export const longTest = (_guardedBy: string): ((name: string, body: () => unknown) => void) =>
  isFaultRun ? (name, body) => test(name, async () => void (await body())) : () => undefined;
