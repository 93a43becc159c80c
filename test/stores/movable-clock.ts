import { type Clock, systemClock } from "#shared/clock.ts";

/** The system's clock, and a hand to put it forward by. */
export function movableClock(): Clock & { advance(ms: number): void } {
  let aheadMs = 0;
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}
