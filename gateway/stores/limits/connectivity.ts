import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";

/** Out of touch for longer, a process spends no lease: after 40 s others take what it held. */
const LEASE_GOOD_MS = 30_000;
/** After a failure nobody asks for so long. */
const AWAY_MS = 500;
/** Before it sweeps, a process has been in touch for so long: after an outage the others must have come back too. */
const STEADY_MS = 12_000;

export type DatabaseConnectivity = {
  /** The database heard that this process lives; it has itself run for `upMs`. */
  onHeartbeat(upMs: number): void;
  /** What came of asking: null, or why it failed. */
  onResult(error: unknown): void;
  reachable(): boolean;
  leasesValid(): boolean;
  isStable(): boolean;
};

/** Whether the limits' database can be reached, and since when. */
export function createConnectivity(clock: Clock, log: Log): DatabaseConnectivity {
  let beatenMs = Number.NEGATIVE_INFINITY;
  let steadySinceMs: number | null = null;
  let awaySinceMs: number | null = null;
  let first = true;

  function heard(error: unknown): void {
    if (error === null && awaySinceMs === null) return;
    if (error === null) {
      log.info({}, "limits can be asked for again");
      awaySinceMs = null;
      return;
    }
    if (awaySinceMs === null) log.warn(errorFields(error), "limits cannot be asked for");
    awaySinceMs = clock.monotonicMs();
    steadySinceMs = null;
  }

  return {
    onResult: heard,
    onHeartbeat(upMs) {
      beatenMs = clock.monotonicMs();
      // A process that starts has missed nothing, unless the database has only just come back itself.
      if (first && upMs > STEADY_MS) steadySinceMs = Number.NEGATIVE_INFINITY;
      first = false;
      steadySinceMs ??= beatenMs;
      heard(null);
    },
    reachable: () => awaySinceMs === null || clock.monotonicMs() - awaySinceMs > AWAY_MS,
    leasesValid: () => clock.monotonicMs() - beatenMs < LEASE_GOOD_MS,
    isStable: () => steadySinceMs !== null && clock.monotonicMs() - steadySinceMs > STEADY_MS,
  };
}
