import { signInSecret } from "#shared/master-key.ts";
import { type Auth, type AuthOptions, openAuth } from "./auth.ts";
import { type CookieFacts, cookieFacts } from "./session-cookie.ts";

export type IdentityConfig = {
  masterKey: Uint8Array;
  /** URL at which browsers reach the gateway; null: this machine, at `port`. */
  publicUrl: string | null;
  port: number;
};

export type Identity = { cookie: CookieFacts; cookieSecret: string; auth: Auth };

/** Sign-in, and how its sessions are recognised. */
export function openIdentity(
  { masterKey, publicUrl, port }: IdentityConfig,
  common: Pick<AuthOptions, "database" | "addressOf" | "clock" | "log">,
): Identity {
  const cookie = cookieFacts(publicUrl);
  const cookieSecret = signInSecret(masterKey);
  const url = publicUrl ?? `http://localhost:${port}`;
  return {
    cookie,
    cookieSecret,
    auth: openAuth({ ...common, cookie, secret: cookieSecret, url, publicUrl }),
  };
}
