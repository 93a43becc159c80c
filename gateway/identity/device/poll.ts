import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Refusals } from "../../plugins/refusals.ts";
import { type DeviceSignInRow, findDeviceSignIn, notePoll } from "../../stores/identity/device-sign-ins.ts";
import { withStoreErrors } from "../../stores/store-errors.ts";
import { OAuthError } from "./oauth-error.ts";

export type DeviceDeps = { database: Database; refusals: Refusals; clock: Clock };

/** Seconds that a device waits between polls. */
export const POLL_SECONDS = 5;
/** A request may take longer to arrive than the next one, so a second less is no haste. */
const POLL_MS_MIN = (POLL_SECONDS - 1) * 1000;

const DEVICE_CODE = /^tgd_[0-9A-Za-z]{43}$/;

/**
 * The sign-in that a device polls for, once a person has approved it.
 * @throws OAuthError authorization_pending; slow_down; access_denied; expired_token. GatewayError store_unavailable.
 */
export async function approvedSignIn(
  { database, refusals, clock }: DeviceDeps,
  request: Request,
  deviceCode: string,
): Promise<DeviceSignInRow & { personId: string }> {
  const now = clock.now();
  const found = DEVICE_CODE.test(deviceCode)
    ? await withStoreErrors(() => findDeviceSignIn(database.db, deviceCode, now))
    : null;
  if (!found) throw guessed(refusals, request);
  const { state, personId } = found;
  if (state === "denied") throw new OAuthError("access_denied", "The sign-in was refused.");
  if (state === "approved" && personId !== null) return { ...found, personId };
  const poll = { now, intervalMs: POLL_MS_MIN };
  const isDue = await withStoreErrors(() => notePoll(database.db, found.id, poll));
  throw new OAuthError(isDue ? "authorization_pending" : "slow_down");
}

function guessed(refusals: Refusals, request: Request): OAuthError {
  const { type, headers } = refusals.refused("device_code", request);
  return type === "too_many_refusals"
    ? new OAuthError("slow_down", null, headers)
    : new OAuthError("expired_token");
}
