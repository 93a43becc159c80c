import type { Log } from "./log.ts";

/** The only source of time. `now` may step (it is the wall clock); `monotonicMs` never goes back. */
export type Clock = {
  now(): Date;
  /** Milliseconds since an arbitrary start, for durations only. */
  monotonicMs(): number;
};

/** What every part that runs for long gets. */
export type Ambient = { clock: Clock; log: Log };

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
