import type { Clock } from "#shared/clock.ts";

export type TokenCache = ReturnType<typeof createTokenCache>;

/** GitHub's tokens are valid for an hour. */
const VALID_MS = 59 * 60_000;

/** One installation's token, as `@octokit/auth-app` wants its cache. */
export function createTokenCache(clock: Clock) {
  let kept: { token: string; atMs: number } | null = null;
  return {
    get: async (): Promise<string> => (kept && clock.monotonicMs() - kept.atMs < VALID_MS ? kept.token : ""),
    set: async (_: string, token: string): Promise<void> => {
      kept = { token, atMs: clock.monotonicMs() };
    },
    /** Discards the token. @returns whether there was one from before `beforeMs` (monotonic). */
    forget: (beforeMs = Number.POSITIVE_INFINITY): boolean => {
      const isOlder = kept !== null && kept.atMs < beforeMs;
      if (isOlder) kept = null;
      return isOlder;
    },
  };
}
