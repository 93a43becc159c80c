import type { Clock } from "#shared/clock.ts";

/** Silence allowed between two chunks of a provider. */
export const GAP_MS = 300_000;

/** Something that must move on before its deadline; `expire` ends it. */
export type Watched = { deadlineMs: number; expire: () => void };

export type Watchdog = {
  /** Watches until `release`; move `deadlineMs` (monotonic milliseconds) on as progress is made. */
  watch(watched: Watched): void;
  release(watched: Watched): void;
  close(): void;
};

/**
 * One timer for all calls: a timer per call or per chunk would cost more than the call. Deadlines are therefore kept to
 * within `tickMs`.
 */
export function startWatchdog(clock: Clock, tickMs = 1000): Watchdog {
  const all = new Set<Watched>();
  const timer = setInterval(() => {
    const now = clock.monotonicMs();
    for (const watched of all) {
      if (watched.deadlineMs > now) continue;
      all.delete(watched);
      watched.expire();
    }
  }, tickMs);
  timer.unref();
  return {
    watch: (watched) => void all.add(watched),
    release: (watched) => void all.delete(watched),
    close: () => clearInterval(timer),
  };
}
