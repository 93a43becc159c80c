import type { Clock } from "#shared/clock.ts";
import type { Call } from "../call.ts";
import type { Provider } from "../directory.ts";
import type { Watched } from "./watchdog.ts";

/** Bounds for draining an answer after its client left, so that its usage is known. */
export const DRAIN = {
  /** For one provider, so that one that hangs does not take all places. */
  perProviderMax: 64,
  atOnceMax: 256,
  msMax: 120_000,
  bytesMax: 8 * 1024 * 1024,
} as const;

/** The places for one provider's answers. */
export type Drains = {
  /** False when no place is left: the caller then aborts the answer. */
  enter(): boolean;
  leave(): void;
};

/** Limits how many calls continue at once after their clients have disconnected. */
export type DrainPool = { of(provider: string): Drains; running(): number };

type Bounds = { atOnceMax: number; perProviderMax: number };

export function drainPool({ atOnceMax, perProviderMax }: Bounds = DRAIN): DrainPool {
  // One entry per provider that an administrator ever named.
  const pools = new Map<string, Drains>();
  let total = 0;
  const open = (): Drains => {
    let running = 0;
    return {
      enter() {
        if (total >= atOnceMax || running >= perProviderMax) return false;
        total += 1;
        running += 1;
        return true;
      },
      leave() {
        total -= 1;
        running -= 1;
      },
    };
  };
  return {
    of: (provider) => {
      const pool = pools.get(provider) ?? open();
      pools.set(provider, pool);
      return pool;
    },
    running: () => total,
  };
}

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
