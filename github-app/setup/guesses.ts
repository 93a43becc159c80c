import type { Clock } from "#shared/clock.ts";

/** Wrong keys and links, by address. */
export type Guesses = {
  /** How many seconds this address must wait; 0: it may try. */
  waitSeconds(address: string): number;
  /** Counts a wrong one. */
  note(address: string): void;
};

const WINDOW_MS = 60_000;
const FREE = 10;
const ADDRESSES_MAX = 10_000;

/** From the tenth wrong guess in a minute on, an address waits until the minute is over; no other address does. */
export function createGuesses(clock: Clock): Guesses {
  const windows = new Map<string, { wrong: number; endMs: number }>();
  const windowOf = (address: string) => {
    const known = windows.get(address);
    return known && known.endMs > clock.monotonicMs() ? known : null;
  };
  return {
    waitSeconds: (address) => {
      const window = windowOf(address);
      if (window === null || window.wrong < FREE) return 0;
      return Math.max(1, Math.ceil((window.endMs - clock.monotonicMs()) / 1000));
    },
    note: (address) => {
      const window = windowOf(address) ?? { wrong: 0, endMs: clock.monotonicMs() + WINDOW_MS };
      window.wrong++;
      if (!windows.has(address) && windows.size >= ADDRESSES_MAX) windows.clear();
      windows.set(address, window);
    },
  };
}
