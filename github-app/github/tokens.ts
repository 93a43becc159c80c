import type { Clock } from "#shared/clock.ts";

/** One installation's token, as `@octokit/auth-app` wants its cache. */
export type TokenCache = {
  get(): Promise<string>;
  set(name: string, token: string): Promise<void>;
  /** Discards the token. @returns whether there was one from before `beforeMs` (monotonic). */
  forget(beforeMs?: number): boolean;
};

/** GitHub's tokens are valid for an hour. */
const VALID_MS = 59 * 60_000;

export function createTokenCache(clock: Clock): TokenCache {
  let kept: { token: string; atMs: number } | null = null;
  return {
    get: async () => (kept && clock.monotonicMs() - kept.atMs < VALID_MS ? kept.token : ""),
    set: async (_, token) => {
      kept = { token, atMs: clock.monotonicMs() };
    },
    forget: (beforeMs = Number.POSITIVE_INFINITY) => {
      const isOlder = kept !== null && kept.atMs < beforeMs;
      if (isOlder) kept = null;
      return isOlder;
    },
  };
}
