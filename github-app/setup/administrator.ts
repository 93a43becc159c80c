import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Whether a request has the admin key, as a Bearer token or as the password of HTTP Basic, which browsers ask for.
 * `digest` is the key's SHA-256 in hexadecimal; null: there is no admin key.
 */
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

/** Makes a browser ask for the key. */
export const unauthorized = (): Response =>
  new Response("Enter the admin key as the password. Any user name will do.\n", {
    status: 401,
    headers: {
      "www-authenticate": 'Basic realm="Tallygate GitHub App", charset="UTF-8"',
      "content-type": "text/plain; charset=utf-8",
    },
  });
