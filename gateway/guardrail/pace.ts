import type { Clock } from "#shared/clock.ts";

/** How long a call may block others at a time, and the total time for its evaluation. */
const TURN_MS = 10;
const WHOLE_MS = 5000;

/** Called between pieces of work; may yield to other calls. True: continue; false: out of time. */
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
