import { type HostileIssuer, hostileIssuer } from "./hostile-issuer.ts";
import { CLIENT } from "./oidc-provider.ts";
import { isPage, PUBLIC_URL, travellingBrowser } from "./redirects.ts";

export type Claims = { sub: string; email: string } & Record<string, unknown>;

/** An issuer that says of whoever comes what the test says, and the settings of a gateway that trusts it. */
export async function claimsIssuer(): Promise<{ issuer: HostileIssuer; env: Record<string, string> }> {
  const issuer = await hostileIssuer(CLIENT.secret);
  const env = {
    PUBLIC_URL,
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
  };
  return { issuer, env };
}

/** Signs in with these claims. The cause for which the sign-in fails, or who is signed in. */
export async function signInWith(gateway: { url: string }, issuer: HostileIssuer, claims: Claims) {
  const browser = travellingBrowser(gateway.url);
  const start = `${PUBLIC_URL}/auth/sign-in/oidc`;
  const left = await browser.visit(start, undefined, (url) => url.origin === issuer.url || isPage(url));
  const asked = new URL(left.url).searchParams;
  if (asked.has("error")) return { error: asked.get("error"), me: null };
  const seconds = Math.floor(Date.now() / 1000);
  const facts = {
    iss: issuer.url,
    aud: CLIENT.id,
    nonce: asked.get("nonce"),
    iat: seconds,
    exp: seconds + 60,
  };
  issuer.next = { claims: { ...facts, email_verified: true, groups: [], ...claims } };
  const back = new URLSearchParams({ state: asked.get("state") ?? "", code: "any" });
  const page = await browser.visit(`${PUBLIC_URL}/auth/callback/oidc?${back}`, undefined, isPage);
  const answer = await fetch(`${gateway.url}/v1/me`, { headers: { cookie: browser.cookie() } });
  const me: { email: string; role: string; team: string | null } | null = answer.ok
    ? await answer.json()
    : null;
  return { error: new URL(page.url).searchParams.get("error"), me };
}
