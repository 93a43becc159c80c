import { readSigned, signed } from "#shared/setup-link.ts";

/** GitHub accepts the three steps within an hour. */
const VALID_MS = 3_600_000;
const STATE = "setup state";
const VISIT = "setup visit";

/**
 * A signed state for the round trip to GitHub, so that only what was started here ends here. `replaces`: the id of the
 * App that the administrator agreed to replace; 0: there was none. It is valid for an hour, at every process and after a
 * restart, because nothing is stored.
 */
export const newState = (key: Uint8Array, now: Date, replaces = 0): string =>
  signed(key, STATE, { about: `${crypto.randomUUID()}:${replaces}`, untilMs: now.getTime() + VALID_MS });

/** The App that a state agrees to replace; null: no valid state. */
export function replacedBy(key: Uint8Array, text: string, now: Date): number | null {
  const state = readSigned(key, STATE, { text, now });
  return state && Number(state.about.split(":")[1]);
}

/** A browser that came by a one-time link. */
export const newVisit = (key: Uint8Array, now: Date): { value: string; seconds: number } => ({
  value: signed(key, VISIT, { about: crypto.randomUUID(), untilMs: now.getTime() + VALID_MS }),
  seconds: VALID_MS / 1000,
});

export const isVisit = (key: Uint8Array, text: string, now: Date): boolean =>
  readSigned(key, VISIT, { text, now }) !== null;
