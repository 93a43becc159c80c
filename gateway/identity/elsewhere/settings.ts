import { optional, secret, text } from "#shared/env-forms.ts";
import { Secret } from "../../directory.ts";
import type { WaysConfig } from "./ways.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

function isIssuer(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
}

const isLine = (value: string): boolean => value.length <= 1000 && !/\p{Cc}/u.test(value);

/** Settings of the ways to sign in elsewhere. */
export const SIGN_IN_SETTINGS = {
  OIDC_ISSUER: optional(text("the issuer's https URL without a query; http only on this machine", isIssuer)),
  OIDC_CLIENT_ID: optional(text("this gateway's client id at the issuer", isLine)),
  OIDC_CLIENT_SECRET: optional(secret("this gateway's client secret at the issuer", isLine)),
  OIDC_GROUPS_CLAIM: text("the name of a claim", isLine, "groups"),
};

const OIDC = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const;
type Name = keyof typeof SIGN_IN_SETTINGS | "PUBLIC_URL";

/** What the settings lack that others of them require. */
export function signInFaults(isSet: (name: Name) => boolean): string[] {
  const given = OIDC.find(isSet);
  if (given === undefined) {
    return isSet("OIDC_GROUPS_CLAIM") ? ["OIDC_ISSUER is missing, which OIDC_GROUPS_CLAIM requires"] : [];
  }
  const missing = ([...OIDC, "PUBLIC_URL"] as const).filter((name) => !isSet(name));
  return missing.map((name) => `${name} is missing, which ${given} requires`);
}

type Values = Partial<Record<(typeof OIDC)[number], string>> & { OIDC_GROUPS_CLAIM: string };

export function waysConfigOf(values: Values): WaysConfig {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  const isWhole = issuer !== undefined && clientId !== undefined && clientSecret !== undefined;
  const groupsClaim = values.OIDC_GROUPS_CLAIM;
  return {
    oidc: isWhole ? { issuer, clientId, clientSecret: new Secret(clientSecret), groupsClaim } : null,
  };
}
