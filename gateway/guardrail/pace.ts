import type { Clock } from "#shared/clock.ts";

/** How long one call may block others at a time, and how long its evaluation may take in all. */
const TURN_MS = 10;
const WHOLE_MS = 5000;

/** Called between pieces of work. True: go on, perhaps after a yield to other calls; false: the time is up. */
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
