import type { Transaction } from "#drizzle/database.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { keyView } from "../admin/key-view.ts";
import { freeKeyName, makeOwnKey } from "../admin/own-key.ts";
import { GatewayError } from "../errors.ts";
import { requestIdOf } from "../http/listener.ts";
import { OAuthError } from "../identity/device/oauth-error.ts";
import { approvedSignIn, type DeviceDeps } from "../identity/device/poll.ts";
import type { Audit, Origin } from "../stores/audit.ts";
import { change, type Reader } from "../stores/change.ts";
import { isClientKeyForm, isRefreshTokenForm } from "../stores/client-secret.ts";
import type { DirectoryStore } from "../stores/directory/directory.ts";
import { takeApproved } from "../stores/identity/device-sign-ins.ts";
import { findPerson } from "../stores/identity/people.ts";
import { findRefreshToken } from "../stores/identity/refresh-tokens.ts";
import { findKey, findKeyOfSecret, revokeKey } from "../stores/keys.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { firstRenewal, type Renewal, renewableUntil } from "./renewals.ts";

/** The grant of RFC 8628. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export type DeviceKeyDeps = DeviceDeps & { directory: Pick<DirectoryStore, "refresh"> };

/** A key's name where the device has not named itself. */
const UNNAMED = { tallygate: "tallygate login", claude_code: "Claude Code" } as const;

/** What a device gets: the key's secret and, if that ends by itself, what renews it. */
export type DeviceKey = { secret: string; email: string; renewal: Renewal | null };

/**
 * The key for a device whose sign-in a person has approved; the device's code is used up by it.
 * @throws OAuthError as long as there is none. GatewayError store_unavailable.
 */
export async function keyForDevice(
  deps: DeviceKeyDeps,
  request: Request,
  deviceCode: string,
): Promise<DeviceKey> {
  const { database, clock, directory } = deps;
  const signIn = await approvedSignIn(deps, request, deviceCode);
  const person = await withStoreErrors(() => findPerson(database.db, signIn.personId));
  if (!person || person.disabled) throw new OAuthError("access_denied", "The person is disabled.");
  const { email, team } = person;
  const now = clock.now();
  const { program } = signIn;
  const wanted = signIn.deviceName ?? UNNAMED[program ?? "tallygate"];
  const issued = change(database, originOf(deps, request, email), async (tx, audit) => {
    if (!(await takeApproved(tx, signIn.id))) throw new GatewayError("not_found");
    const name = await freeKeyName(tx, person, wanted);
    const ends = program === "claude_code" ? renewableUntil(now) : { expiresAt: null };
    const made = await makeOwnKey({ tx, audit }, { email, team }, { name, program, now, ...ends });
    return { ...made, renewal: program === "claude_code" ? await firstRenewal(tx, made.key.id, now) : null };
  });
  const { secret, renewal } = await issued.catch((error: unknown) => {
    throw asOAuth(error);
  });
  await directory.refresh();
  return { secret, email, renewal };
}

export const originOf = ({ refusals, clock }: DeviceDeps, request: Request, actor: string): Origin => ({
  actor,
  address: refusals.addressOf(request),
  requestId: requestIdOf(request),
  at: clock.now(),
});

function asOAuth(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  if (error.type === "not_found") return new OAuthError("expired_token");
  return error.type === "conflict" ? new OAuthError("access_denied", error.message) : error;
}

/** Ends a person's key by its secret or refresh token. Who has one can end the key, and cannot learn more. */
export async function revokeByKey(deps: DeviceKeyDeps, request: Request, secret: string): Promise<void> {
  const { database, clock, directory } = deps;
  const now = clock.now();
  const found = await withStoreErrors(() => keyOfCredential(database.db, secret, now));
  if (!found?.owner || found.revokedAt !== null) return;
  const origin = originOf(deps, request, storedEmail(found.owner));
  await change(database, origin, (tx, audit) => revokeAudited({ tx, audit }, found.id, now));
  await directory.refresh();
}

async function keyOfCredential(reader: Reader, secret: string, now: Date) {
  if (isClientKeyForm(secret)) return await findKeyOfSecret(reader, secret, now);
  return isRefreshTokenForm(secret) ? ((await findRefreshToken(reader, secret))?.key ?? null) : null;
}

export async function revokeAudited({ tx, audit }: { tx: Transaction; audit: Audit }, id: string, now: Date) {
  const before = await findKey(tx, id, now);
  await revokeKey(tx, id, now);
  const after = await findKey(tx, id, now);
  await audit({
    action: "key.revoked",
    subject: id,
    ...(before && { before: keyView(before, now) }),
    ...(after && { after: keyView(after, now) }),
  });
}
