import { ALL } from "./tiers.ts";

/** Whether the fault suite runs in full (`test --all`, `test:faults`); `test` takes a short form of it. */
export const isFaultRun = process.env[ALL] === "1";

/** The cases of a test: the first `short` of them in `test`, each of them in a fault run. */
export const casesOf = <T>(cases: readonly T[], short = 1): readonly T[] =>
  isFaultRun ? cases : cases.slice(0, short);
