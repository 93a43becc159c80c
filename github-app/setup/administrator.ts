import { createHash, timingSafeEqual } from "node:crypto";
import { isVisit } from "./state.ts";

/** Whether a request has the admin key (Bearer or Basic's password). `digest`: its hex SHA-256; null without such a key. */
export function isAdministrator(request: Request, digest: string | null): boolean {
  const key = keyOf(request.headers.get("authorization") ?? "");
  if (digest === null || key === null) return false;
  return timingSafeEqual(createHash("sha256").update(key).digest(), Buffer.from(digest, "hex"));
}

function keyOf(authorization: string): string | null {
  const [scheme = "", value = ""] = authorization.split(" ", 2);
  if (/^bearer$/i.test(scheme)) return value;
  if (!/^basic$/i.test(scheme)) return null;
  const text = Buffer.from(value, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

const COOKIE = "tallygate_setup";

/** Whether a browser came by a one-time link within the last hour. */
export function isVisitor(request: Request, key: Uint8Array | null, now: Date): boolean {
  const cookies = (request.headers.get("cookie") ?? "").split(/;\s*/);
  const text = cookies.find((it) => it.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
  return key !== null && text !== undefined && isVisit(key, text, now);
}

/** Lax, because GitHub sends the browser back with a plain link. */
export const visitCookie = (visit: { value: string; seconds: number }, isSecure: boolean): string =>
  `${COOKIE}=${visit.value}; Path=/setup; Max-Age=${visit.seconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;

/** For scripts: it does not make a browser ask for the key, which must not be typed on a port that GitHub reaches. */
export const unauthorized = (): Response =>
  new Response("Present the admin key as a Bearer token or as the password of HTTP Basic.\n", {
    status: 401,
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
