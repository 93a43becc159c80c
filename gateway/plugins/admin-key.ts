import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Secret } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { Origin } from "../stores/audit.ts";

export type AdminKeyCheck = (headers: Headers) => boolean;

/** Compares digests of equal length in constant time, so that neither time nor length leaks the key. */
export function adminKeyCheck(adminKey: Secret): AdminKeyCheck {
  const expected = digest(adminKey.reveal());
  return (headers) => {
    const [, presented] = /^\s*bearer +(\S+)\s*$/i.exec(headers.get("authorization") ?? "") ?? [];
    return presented !== undefined && timingSafeEqual(digest(presented), expected);
  };
}

const digest = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();

/** @throws GatewayError unauthenticated without the admin key. */
export function requireAdminKey(isAdmin: AdminKeyCheck, headers: Headers): void {
  if (isAdmin(headers)) return;
  throw new GatewayError(
    "unauthenticated",
    "No valid admin key was presented. Send it as Authorization: Bearer.",
  );
}

/** Name of whoever presents the admin key: it names nobody. */
const ADMIN_KEY = "admin key";

/**
 * Routes marked `{ adminKey: true }` accept only the admin key; the check is bound to the route, never to a path. They
 * get the caller as `origin`, for the audit log, and answer with its request id in `x-request-id`.
 */
export const adminKey = ({ isAdmin, clock }: { isAdmin: AdminKeyCheck; clock: Clock }) =>
  new Elysia({ name: "plugin.admin-key" }).macro({
    adminKey: {
      resolve({ request, server, set }) {
        requireAdminKey(isAdmin, request.headers);
        const requestId = newId();
        set.headers["x-request-id"] = requestId;
        const address = server?.requestIP(request)?.address ?? null;
        return { origin: { actor: ADMIN_KEY, address, requestId, at: clock.now() } satisfies Origin };
      },
    },
  });
