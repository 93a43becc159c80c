import { githubAppKey, signInSecret } from "#shared/master-key.ts";
import { once } from "#shared/once.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import type { Auth, AuthOptions } from "./auth.ts";
import { openWays, type Ways, type WaysConfig, type WaysDeps } from "./elsewhere/ways.ts";
import { type CookieFacts, cookieFacts, tripCookieFacts } from "./session-cookie.ts";

export type IdentityConfig = {
  masterKey: Uint8Array;
  /** URL at which browsers reach the gateway; null: this machine, at `port`. */
  publicUrl: string | null;
  port: number;
  waysIn: WaysConfig;
};

export type Identity = {
  cookie: CookieFacts;
  cookieSecret: string;
  auth: Auth;
  /** URL at which browsers reach the gateway, without a trailing slash. */
  url: string;
  ways: Ways;
  waysIn: WaysConfig;
};

/** Sign-in, and how its sessions are recognised. */
export function openIdentity(
  { masterKey, publicUrl, port, waysIn }: IdentityConfig,
  {
    reach,
    directory,
    ...common
  }: Pick<AuthOptions, "database" | "addressOf" | "clock" | "log"> &
    Pick<WaysDeps, "directory"> & { reach: OutboundFetch },
): Identity {
  const cookie = cookieFacts(publicUrl);
  const cookieSecret = signInSecret(masterKey);
  const url = publicUrl ?? `http://localhost:${port}`;
  return {
    cookie,
    cookieSecret,
    auth: authWhenUsed({
      ...common,
      cookie,
      tripCookie: tripCookieFacts(publicUrl),
      secret: cookieSecret,
      url,
      publicUrl,
    }),
    url,
    ways: openWays(waysIn, { ...common, directory, reach, url, appKey: githubAppKey(masterKey), publicUrl }),
    waysIn,
  };
}

/** Loads the sign-in library with its first use: it is large, and many gateways never sign anyone in. */
function authWhenUsed(options: AuthOptions): Auth {
  const auth = once(async () => (await import("./auth.ts")).openAuth(options));
  return {
    handler: async (request) => (await auth()).handler(request),
    signIn: async (opening, request) => (await auth()).signIn(opening, request),
    leave: async (leaving, request) => (await auth()).leave(leaving, request),
    comeBack: async (state, request) => (await auth()).comeBack(state, request),
  };
}
