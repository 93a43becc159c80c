import type { Pico } from "../../limits/money.ts";
import { SLOT_MS } from "../../limits/window.ts";

/** What this process let through for a key in one minute without the database; to be added to what is stored. */
export type AwayMinute = { atMs: number; requests: number; tokens: number; calls: number; usd: Pico };

const MINUTE_MS = 60_000;

/** The beginning of the minute that a rate slot is in. */
export const minuteOfSlot = (slot: number): number => Math.floor((slot * SLOT_MS) / MINUTE_MS) * MINUTE_MS;

/** Collects what is admitted by the minute, until `take` hands it over. */
export function createAwayMinutes() {
  let minutes = new Map<number, AwayMinute>();

  function minuteOf(atMs: number): AwayMinute {
    const known = minutes.get(atMs);
    if (known) return known;
    const made = { atMs, requests: 0, tokens: 0, calls: 0, usd: 0n };
    minutes.set(atMs, made);
    return made;
  }

  return {
    /** `calls`: how many the key has under way now. */
    admitted(atMs: number, tokens: number, calls: number): void {
      const minute = minuteOf(atMs);
      minute.requests += 1;
      minute.tokens += tokens;
      minute.calls = Math.max(minute.calls, calls);
    },
    /** `atMs`: when the call was admitted. */
    ended(atMs: number, tokensMore: number, usd: Pico): void {
      const minute = minuteOf(atMs);
      minute.tokens += tokensMore;
      minute.usd += usd;
    },
    giveBack(taken: readonly AwayMinute[]): void {
      for (const { atMs, requests, tokens, calls, usd } of taken) {
        const minute = minuteOf(atMs);
        minute.requests += requests;
        minute.tokens += tokens;
        minute.calls = Math.max(minute.calls, calls);
        minute.usd += usd;
      }
    },
    take(): AwayMinute[] {
      const taken = [...minutes.values()];
      minutes = new Map();
      return taken;
    },
  };
}
