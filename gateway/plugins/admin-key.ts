import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Secret } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { Origin } from "../stores/audit.ts";
import { CREDENTIALS, type Refusals } from "./refusals.ts";

export type AdminKeyCheck = (headers: Headers) => boolean;

/** Whether a credential is the admin key, compared in constant time. */
export const adminSecretCheck = (adminKey: Secret): ((presented: string) => boolean) => {
  const expected = digest(adminKey.reveal());
  return (presented) => timingSafeEqual(digest(presented), expected);
};

/** Compares digests of equal length in constant time, so that neither time nor length leaks the key. */
export function adminKeyCheck(adminKey: Secret): AdminKeyCheck {
  const isAdminKey = adminSecretCheck(adminKey);
  return (headers) => {
    const [, presented] = /^\s*bearer +(\S+)\s*$/i.exec(headers.get("authorization") ?? "") ?? [];
    return presented !== undefined && isAdminKey(presented);
  };
}

const digest = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();

type AdminCheck = { isAdmin: AdminKeyCheck; refusals: Refusals };

/** @throws GatewayError unauthenticated without the admin key; too_many_refusals. */
export function requireAdminKey({ isAdmin, refusals }: AdminCheck, request: Request): void {
  if (isAdmin(request.headers)) return;
  const isAbsent = !request.headers.has("authorization");
  throw isAbsent
    ? new GatewayError("unauthenticated", CREDENTIALS.admin_key)
    : refusals.refused("admin_key", request);
}

/** Name of whoever presents the admin key: it names nobody. */
const ADMIN_KEY = "admin key";

/**
 * Routes marked `{ adminKey: true }` accept only the admin key; the check is bound to the route, never to a path. They
 * get the caller as `origin`, for the audit log, and answer with its request id in `x-request-id`.
 */
export const adminKey = ({ clock, ...check }: AdminCheck & { clock: Clock }) =>
  new Elysia({ name: "plugin.admin-key" }).macro({
    adminKey: {
      resolve({ request, set }) {
        requireAdminKey(check, request);
        const requestId = newId();
        set.headers["x-request-id"] = requestId;
        const address = check.refusals.addressOf(request);
        return { origin: { actor: ADMIN_KEY, address, requestId, at: clock.now() } satisfies Origin };
      },
    },
  });
