import type { Transaction } from "#drizzle/database.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { OAuthError } from "../identity/device/oauth-error.ts";
import { auditIn } from "../stores/audit.ts";
import { ownChange, type Reader } from "../stores/change.ts";
import { isRefreshTokenForm } from "../stores/client-secret.ts";
import {
  findRefreshToken,
  insertRefreshToken,
  isEndOfSignIn,
  noteRefresh,
} from "../stores/identity/refresh-tokens.ts";
import { addSecret, extendKey } from "../stores/keys.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { type DeviceKeyDeps, originOf, revokeAudited } from "./device-keys.ts";
import { BEARER_SECONDS, bearerEnd, forgottenBefore, GRACE_MS, type Renewal, signInEnd } from "./renewals.ts";

/** Bearers of one sign-in at once: a client that renews without need must not fill the directory. */
const BEARERS_MAX = 20;

type Renewed = Renewal & { secret: string };

/**
 * A new bearer and refresh token for a refresh token. The former bearer lasts to its own end.
 * @throws OAuthError invalid_grant, or slow_down where too many wrong ones came from the address. GatewayError store_unavailable.
 */
export async function renewBearer(deps: DeviceKeyDeps, request: Request, token: string): Promise<Renewed> {
  const { database, directory } = deps;
  // Looked up first: a guess must not make every gateway read the keys again.
  if (await withStoreErrors(() => isKnown(database.db, token))) {
    const renewed = await ownChange(database, (tx) => renew(deps, request, { tx, token }));
    await directory.refresh();
    if (renewed) return renewed;
  }
  const { type, message, headers } = deps.refusals.refused("refresh_token", request);
  throw type === "too_many_refusals"
    ? new OAuthError("slow_down", null, headers)
    : new OAuthError("invalid_grant", message);
}

const isKnown = async (reader: Reader, token: string): Promise<boolean> =>
  isRefreshTokenForm(token) && (await findRefreshToken(reader, token)) !== null;

/** Null: the token counts for nothing. Renewing adds nothing to the audit log, as using a session does not. */
async function renew(
  deps: DeviceKeyDeps,
  request: Request,
  { tx, token }: { tx: Transaction; token: string },
): Promise<Renewed | null> {
  const now = deps.clock.now();
  const found = await findRefreshToken(tx, token);
  if (!found) return null;
  const { key } = found;
  const { id, keyId, usedAt } = found.token;
  if (usedAt !== null && Date.parse(usedAt) + GRACE_MS < now.getTime()) {
    const audit = auditIn(
      tx,
      originOf(deps, request, key.owner === null ? key.name : storedEmail(key.owner)),
    );
    await revokeAudited({ tx, audit }, keyId, now);
    return null;
  }
  if (key.expiresAt !== null && Date.parse(key.expiresAt) <= now.getTime()) return null;
  const keyExpiresAt = signInEnd(now);
  // An end that an administrator has set stays.
  if (await isEndOfSignIn(tx, key)) await extendKey(tx, keyId, keyExpiresAt);
  await noteRefresh(tx, { id, keyId }, { now, forgetBefore: forgottenBefore(now) });
  const refreshToken = await insertRefreshToken(tx, { keyId, keyExpiresAt }, now);
  const secret = await addSecret(tx, keyId, { now, expiresAt: bearerEnd(now), most: BEARERS_MAX });
  return { secret, refreshToken, expiresIn: BEARER_SECONDS };
}
