import { SESSION_SECONDS_MAX } from "./session-policy.ts";

export type CookieFacts = {
  name: string;
  attributes: { secure: boolean; httpOnly: true; sameSite: "lax"; path: "/" };
};

/** With an https address, browsers take the cookie only from this very host and over TLS (`__Host-`). */
export function cookieFacts(publicUrl: string | null): CookieFacts {
  const secure = publicUrl?.startsWith("https://") === true;
  return {
    name: secure ? "__Host-tallygate_session" : "tallygate_session",
    attributes: { secure, httpOnly: true, sameSite: "lax", path: "/" },
  };
}

/** The cookie of a browser that is away at an identity provider, by the same rules. */
export function tripCookieFacts(publicUrl: string | null): CookieFacts {
  const { name, attributes } = cookieFacts(publicUrl);
  return { name: name.replace(/session$/, "trip"), attributes };
}

/** The token in a request's session cookie; null without one. Its signature adds nothing to 256 random bits. */
export function sessionToken(headers: Headers, { name }: CookieFacts): string | null {
  const cookies = (headers.get("cookie") ?? "").split(/;\s*/);
  const values = cookies.filter((it) => it.startsWith(`${name}=`)).map((it) => it.slice(name.length + 1));
  const [value] = values;
  // A second one was set by someone else, and ours cannot be recognised.
  if (value === undefined || values.length > 1) return null;
  const [, token] = /^(tgs_[0-9A-Za-z]{43})\./.exec(value) ?? [];
  return token ?? null;
}

/** The `set-cookie` of a token, signed as the sign-in library signs it. */
export function setCookie(token: string, secret: string, { name, attributes }: CookieFacts): string {
  const signature = new Bun.CryptoHasher("sha256", secret).update(token).digest("base64");
  const value = encodeURIComponent(`${token}.${signature}`);
  const secure = attributes.secure ? "; Secure" : "";
  return `${name}=${value}; Max-Age=${SESSION_SECONDS_MAX}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}
