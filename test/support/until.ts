/** Longer than anything takes on a busy machine, and shorter than a test's time limit: its error names what is missing. */
const PATIENCE_MS = 120_000;

/** A look is often a query or a request: what takes long is looked at less often. */
const PAUSE_MS = [10, 200] as const;

/**
 * Resolves with the first result of `look` that is not false, null or undefined. It looks again after a fifth of the time
 * that it has waited, within `PAUSE_MS`. A look that throws has seen nothing yet: what is waited for may be why. The last
 * such error is the cause of the one that says that time is up. What waits for a download has a longer patience.
 */
export async function until<Result>(
  look: () => Result | Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Exclude<Result, false | null | undefined>> {
  const start = performance.now();
  let cause: unknown;
  for (;;) {
    const result = await Promise.try(look).catch((error) => {
      cause = error;
      return null;
    });
    if (result !== false && result !== null && result !== undefined) {
      // The three values that the type leaves out have just been excluded.
      return result as Exclude<Result, false | null | undefined>;
    }
    const waitedMs = performance.now() - start;
    if (waitedMs > patienceMs)
      throw new Error(`never came true within ${patienceMs / 1000} s: ${look}`, { cause });
    await Bun.sleep(Math.min(Math.max(waitedMs / 5, PAUSE_MS[0]), PAUSE_MS[1]));
  }
}
