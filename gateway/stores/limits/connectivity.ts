import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";

/** A process sweeps only after this time in contact: after an outage the others must have come back too. */
const STEADY_MS = 12_000;

/**
 * A circuit breaker: the first failure opens it, and only a heartbeat closes it. While it is open no call asks the
 * database, and calls that were asking stop waiting.
 */
export type DatabaseConnectivity = {
  /** False until the first heartbeat, and from a failure to the next heartbeat. */
  reachable(): boolean;
  /** A heartbeat succeeded; the database has been up for `upMs`. */
  onHeartbeat(upMs: number): void;
  /** A query failed. */
  onFailure(error: unknown): void;
  /** `work`, or a rejection as soon as the database is known to be away. */
  whileReachable<T>(work: Promise<T>): Promise<T>;
  /** How long ago the last heartbeat succeeded. */
  silentMs(): number;
  isStable(): boolean;
};

/** `onAway` is called when the database goes away. */
export function createConnectivity(clock: Clock, log: Log, onAway: () => void): DatabaseConnectivity {
  let beatenMs = Number.NEGATIVE_INFINITY;
  let steadySinceMs: number | null = null;
  let state: "starting" | "reachable" | "away" = "starting";
  const waiting = new Set<(reason: Error) => void>();

  return {
    reachable: () => state === "reachable",
    onHeartbeat(upMs) {
      beatenMs = clock.monotonicMs();
      // A starting process has missed nothing, unless the database itself has just come back.
      if (state === "starting" && upMs > STEADY_MS) steadySinceMs = Number.NEGATIVE_INFINITY;
      steadySinceMs ??= beatenMs;
      if (state === "away") log.info({}, "the limits' database is reachable again");
      state = "reachable";
    },
    onFailure(error) {
      if (state === "away") return;
      log.warn(errorFields(error), "the limits' database cannot be reached; limits are counted here");
      state = "away";
      steadySinceMs = null;
      for (const give of waiting) give(new Error("the limits' database went away"));
      onAway();
    },
    async whileReachable(work) {
      const away = Promise.withResolvers<never>();
      waiting.add(away.reject);
      work.catch(() => undefined);
      try {
        return await Promise.race([work, away.promise]);
      } finally {
        waiting.delete(away.reject);
      }
    },
    silentMs: () => clock.monotonicMs() - beatenMs,
    isStable: () => steadySinceMs !== null && clock.monotonicMs() - steadySinceMs > STEADY_MS,
  };
}
