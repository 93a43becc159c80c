import type { Transaction } from "#drizzle/database.ts";
import { insertRefreshToken } from "../stores/identity/refresh-tokens.ts";

/** How long a bearer lasts: a working day, so that the database may be away for long. Revoking does not wait for its end. */
export const BEARER_SECONDS = 8 * 3600;
/** A sign-in that is not renewed for this long ends. */
const IDLE_MS = 30 * 24 * 3600 * 1000;
/** How long a replaced refresh token still works, for processes that share it. Later use ends the sign-in. */
export const GRACE_MS = 120_000;

/** The token that renews a bearer, and the seconds until renewal is due. */
export type Renewal = { refreshToken: string; expiresIn: number };

const later = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

export const bearerEnd = (now: Date): string => later(now, BEARER_SECONDS * 1000);
export const signInEnd = (now: Date): string => later(now, IDLE_MS);
/** Token uses before this are obsolete, because their keys have expired. */
export const forgottenBefore = (now: Date): Date => new Date(now.getTime() - IDLE_MS);

/** The ends of a key that is made by a sign-in now, and of its first secret. */
export const renewableUntil = (now: Date) => ({ expiresAt: signInEnd(now), secretExpiresAt: bearerEnd(now) });

/** The token that renews a key that a sign-in makes now. */
export async function firstRenewal(tx: Transaction, keyId: string, now: Date): Promise<Renewal> {
  const refreshToken = await insertRefreshToken(tx, { keyId, keyExpiresAt: signInEnd(now) }, now);
  return { refreshToken, expiresIn: BEARER_SECONDS };
}
