import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import type { Secret } from "../directory.ts";
import { GatewayError } from "../errors.ts";

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

/** Routes marked `{ adminKey: true }` accept only the admin key; the check is bound to the route, never to a path. */
export const adminKey = (isAdmin: AdminKeyCheck) =>
  new Elysia({ name: "plugin.admin-key" }).macro({
    adminKey: { beforeHandle: ({ request }) => requireAdminKey(isAdmin, request.headers) },
  });
