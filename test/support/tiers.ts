/**
 * Suites that `bun run test` leaves to `bun run test --all`, with what guards their promise every time. A key is a file of
 * test/ or a folder that ends with a slash.
 */
export const SLOW: Readonly<Record<string, { why: string; guardedBy: string }>> = {};

/** Whether a test file, by its path in the repository, runs with `--all` only. */
export const isSlow = (file: string): boolean =>
  Object.keys(SLOW).some((it) => (it.endsWith("/") ? file.startsWith(`test/${it}`) : file === `test/${it}`));

/** Set for the suites of `--all`: those that can be long or short are long then. */
export const ALL = "TALLYGATE_TEST_ALL";

/**
 * Processor time in seconds that a folder's suites in `bun run test` may take on a quiet machine. The run names each
 * folder that takes more, and does not fail: a busy machine takes more for the same.
 */
export const BUDGET_SECONDS: Readonly<Record<string, number>> = {};
