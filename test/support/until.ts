/** Longer than anything takes on a busy machine, and shorter than a test's time limit: its error names what is missing. */
const PATIENCE_MS = 120_000;

/**
 * Resolves with the first result of `look` that is not false, null or undefined, looked for every 10 ms. What waits for a
 * download has a longer patience.
 */
export async function until<Result>(
  look: () => Result | Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Exclude<Result, false | null | undefined>> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const result = await look();
    if (result !== false && result !== null && result !== undefined) {
      // The three values that the type leaves out have just been excluded.
      return result as Exclude<Result, false | null | undefined>;
    }
    if (performance.now() > end) throw new Error(`never came true within ${patienceMs / 1000} s: ${look}`);
    await Bun.sleep(10);
  }
}
