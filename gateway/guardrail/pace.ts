import type { Clock } from "#shared/clock.ts";

/** Longest that judging one call keeps others waiting, and longest that it may take in all. */
const TURN_MS = 10;
const WHOLE_MS = 5000;

/**
 * Called between pieces of work. True: go on, perhaps after others had their turn; false: the time for this call is up.
 */
export type Pace = () => true | Promise<boolean>;

export function pace(clock: Clock): Pace {
  const startedMs = clock.monotonicMs();
  let turnMs = startedMs;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - turnMs < TURN_MS) return true;
    return new Promise((resolve) =>
      setImmediate(() => {
        turnMs = clock.monotonicMs();
        resolve(nowMs - startedMs < WHOLE_MS);
      }),
    );
  };
}
