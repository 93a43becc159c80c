import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";

/** Without a heartbeat for longer, a process spends no lease: after 40 s others take over its reservations. */
const LEASE_GOOD_MS = 30_000;
/** Pause after a failure. */
const AWAY_MS = 500;
/** A process sweeps only after this time in contact: after an outage the others must have come back too. */
const STEADY_MS = 12_000;

export type DatabaseConnectivity = {
  /** A heartbeat succeeded; the database has been up for `upMs`. */
  onHeartbeat(upMs: number): void;
  /** Outcome of a query: null, or the error. */
  onResult(error: unknown): void;
  reachable(): boolean;
  leasesValid(): boolean;
  isStable(): boolean;
};

/** Tracks whether the limits' database can be reached, and since when. */
export function createConnectivity(clock: Clock, log: Log): DatabaseConnectivity {
  let beatenMs = Number.NEGATIVE_INFINITY;
  let steadySinceMs: number | null = null;
  let awaySinceMs: number | null = null;
  let first = true;

  function onResult(error: unknown): void {
    if (error === null && awaySinceMs === null) return;
    if (error === null) {
      log.info({}, "the limits' database is reachable again");
      awaySinceMs = null;
      return;
    }
    if (awaySinceMs === null) log.warn(errorFields(error), "the limits' database cannot be reached");
    awaySinceMs = clock.monotonicMs();
    steadySinceMs = null;
  }

  return {
    onResult,
    onHeartbeat(upMs) {
      beatenMs = clock.monotonicMs();
      // A starting process has missed nothing, unless the database itself has just come back.
      if (first && upMs > STEADY_MS) steadySinceMs = Number.NEGATIVE_INFINITY;
      first = false;
      steadySinceMs ??= beatenMs;
      onResult(null);
    },
    reachable: () => awaySinceMs === null || clock.monotonicMs() - awaySinceMs > AWAY_MS,
    leasesValid: () => clock.monotonicMs() - beatenMs < LEASE_GOOD_MS,
    isStable: () => steadySinceMs !== null && clock.monotonicMs() - steadySinceMs > STEADY_MS,
  };
}
