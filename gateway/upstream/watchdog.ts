import type { Clock } from "#shared/clock.ts";

/**
 * Something that must make progress before its deadline; `expire` ends it. `look`, if there is one, is called at every
 * tick. `client`: the client has to make the progress, and not a provider. `place` is for the watchdog only.
 */
export type Watched = {
  deadlineMs: number;
  expire: () => void;
  look?: (() => void) | undefined;
  client?: boolean;
  place?: number | undefined;
};

export type Watchdog = {
  /** Watches until `release`; the caller extends `deadlineMs` (monotonic milliseconds) as progress is made. */
  watch(watched: Watched): void;
  release(watched: Watched): void;
  /** From now on, waits for clients end after at most `ms`. */
  hurry(ms: number): void;
  close(): void;
};

/** One timer for all calls, exact to `tickMs`: one per call or chunk would cost more than the call. */
export function startWatchdog(clock: Clock, tickMs = 1000): Watchdog {
  // Not a Set: in JavaScriptCore, a long-lived Set's outgrown tables link to later ones, which keeps most entries, and
  // with them whole calls, alive until a full garbage collection.
  const places: (Watched | undefined)[] = [];
  const gaps: number[] = [];
  const release = (watched: Watched) => {
    if (watched.place === undefined) return;
    places[watched.place] = undefined;
    gaps.push(watched.place);
    watched.place = undefined;
  };
  const timer = setInterval(() => {
    const now = clock.monotonicMs();
    for (const watched of places) {
      watched?.look?.();
      if (watched === undefined || watched.deadlineMs > now) continue;
      release(watched);
      watched.expire();
    }
  }, tickMs);
  timer.unref();
  return {
    watch: (watched) => {
      watched.place ??= gaps.pop() ?? places.length;
      places[watched.place] = watched;
    },
    release,
    hurry(ms) {
      const until = clock.monotonicMs() + ms;
      for (const watched of places) {
        if (watched?.client) watched.deadlineMs = Math.min(watched.deadlineMs, until);
      }
    },
    close: () => clearInterval(timer),
  };
}
