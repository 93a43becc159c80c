import type { Clock } from "./clock.ts";

const WINDOW_MS = 60_000;
/** Maximum number of addresses tracked; the oldest is discarded first. */
const ADDRESSES_MAX = 10_000;
const LOG_EVERY_MS = 1_000;

export type RefusedCredentials = {
  /** Whole seconds until a rate-limited address may try again; 0: it may try now. */
  waitSeconds(address: string): number;
  /** Notes that a credential from `address` was refused; returns its `waitSeconds` from then on. */
  note(address: string): number;
};

type Options = {
  clock: Clock;
  /** Refusals within a minute that rate-limit an address. */
  perMinuteMax: number;
  /** Called at most once a second, with the latest address and the refusals since the last call. */
  report: (address: string, refusals: number) => void;
};

/** Counts refused credentials by address, in this process. */
export function refusedCredentials({ clock, perMinuteMax, report }: Options): RefusedCredentials {
  const seen = new Map<string, { refusals: number; sinceMs: number }>();
  let unreported = 0;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const windowOf = (address: string) => {
    const window = seen.get(address);
    return window && clock.monotonicMs() - window.sinceMs < WINDOW_MS ? window : null;
  };
  const waitSeconds = (address: string) => {
    const window = windowOf(address);
    if (window === null || window.refusals < perMinuteMax) return 0;
    return Math.max(1, Math.ceil((window.sinceMs + WINDOW_MS - clock.monotonicMs()) / 1000));
  };
  return {
    waitSeconds,
    note(address) {
      const nowMs = clock.monotonicMs();
      unreported += 1;
      if (nowMs - reportedMs >= LOG_EVERY_MS) {
        report(address, unreported);
        unreported = 0;
        reportedMs = nowMs;
      }
      const window = windowOf(address) ?? { refusals: 0, sinceMs: nowMs };
      window.refusals += 1;
      seen.delete(address);
      seen.set(address, window);
      const oldest = seen.size > ADDRESSES_MAX ? seen.keys().next().value : undefined;
      if (oldest !== undefined) seen.delete(oldest);
      return waitSeconds(address);
    },
  };
}
