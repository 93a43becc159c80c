import type { Clock } from "./clock.ts";

const WINDOW_MS = 60_000;
/** Addresses remembered at a time; the oldest is forgotten first. */
const ADDRESSES_MAX = 10_000;
const LOG_EVERY_MS = 1_000;

export type RefusedCredentials = {
  /**
   * Notes that a credential from `address` was refused. Returns null, or once there are too many the whole seconds after
   * which the address may try again. Valid credentials from the same address are never slowed.
   */
  note(address: string): number | null;
};

type Options = {
  clock: Clock;
  /** Refusals of one address within a minute from which on it is slowed. */
  perMinuteMax: number;
  /** Called at most once a second, with the latest address and the refusals since the last call. */
  report: (address: string, refusals: number) => void;
};

/** Slows down whoever tries credentials. It knows this process only. */
export function refusedCredentials({ clock, perMinuteMax, report }: Options): RefusedCredentials {
  const seen = new Map<string, { refusals: number; sinceMs: number }>();
  let unreported = 0;
  let reportedMs = Number.NEGATIVE_INFINITY;
  return {
    note(address) {
      const nowMs = clock.monotonicMs();
      unreported += 1;
      if (nowMs - reportedMs >= LOG_EVERY_MS) {
        report(address, unreported);
        unreported = 0;
        reportedMs = nowMs;
      }
      const before = seen.get(address);
      const isRunning = before && nowMs - before.sinceMs < WINDOW_MS;
      const present = isRunning ? before : { refusals: 0, sinceMs: nowMs };
      present.refusals += 1;
      seen.delete(address);
      seen.set(address, present);
      const oldest = seen.size > ADDRESSES_MAX ? seen.keys().next().value : undefined;
      if (oldest !== undefined) seen.delete(oldest);
      if (present.refusals < perMinuteMax) return null;
      return Math.max(1, Math.ceil((present.sinceMs + WINDOW_MS - nowMs) / 1000));
    },
  };
}
