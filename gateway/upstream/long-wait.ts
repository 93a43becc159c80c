import type { Clock } from "#shared/clock.ts";
import type { Call } from "../call.ts";
import type { Provider } from "../directory.ts";
import { DRAIN, type DrainPool } from "./drain.ts";
import type { Watched } from "./watchdog.ts";

type Wait = { call: Pick<Call, "signal">; provider: Pick<Provider, "name">; watched: Watched };

/**
 * Bounds the wait for an answer after its client has left: like the rest of an answer, it is read for its usage only
 * while the drain pool has a place for its provider, and not for long. Noticed at the watchdog's next tick, because a
 * listener per call would cost more.
 */
export function longWait(
  { drains, clock }: { drains: DrainPool; clock: Clock },
  { call, provider, watched }: Wait,
): { end(): void } {
  let isWaiting = false;
  watched.look = () => {
    if (isWaiting || !call.signal.aborted) return;
    isWaiting = drains.of(provider.name).enter();
    watched.deadlineMs = isWaiting
      ? Math.min(watched.deadlineMs, clock.monotonicMs() + DRAIN.msMax)
      : Number.NEGATIVE_INFINITY;
  };
  return {
    end: () => {
      watched.look = undefined;
      if (isWaiting) drains.of(provider.name).leave();
    },
  };
}
