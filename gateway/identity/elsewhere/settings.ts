import { type Static, Type } from "@sinclair/typebox";
import { optional, secret, text } from "#shared/env-forms.ts";
import { GITHUB_ADDRESS_SETTINGS, githubAddresses } from "#shared/github-app-config.ts";
import { Secret } from "../../directory.ts";
import { SAML_SETTINGS, type SamlName, samlConfigOf, samlFaults } from "./saml-settings.ts";
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
  GITHUB_CLIENT_ID: optional(text("the client id of an App at GitHub", isLine)),
  GITHUB_CLIENT_SECRET: optional(secret("the App's client secret", isLine)),
  ...GITHUB_ADDRESS_SETTINGS,
  ...SAML_SETTINGS,
};

/** Settings that need each other. */
const WHOLE = [
  ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "PUBLIC_URL"],
  ["GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET", "PUBLIC_URL"],
] as const;
type Name = (typeof WHOLE)[number][number] | "OIDC_GROUPS_CLAIM" | SamlName;

/** What the settings lack that others of them require. */
export const signInFaults = (isSet: (name: Name) => boolean): string[] => [
  ...wholeFaults(isSet),
  ...samlFaults(isSet),
];

function wholeFaults(isSet: (name: Name) => boolean): string[] {
  const faults = WHOLE.flatMap((names) => {
    const given = names.find((name) => name !== "PUBLIC_URL" && isSet(name));
    const missing = given === undefined ? [] : names.filter((name) => !isSet(name));
    return missing.map((name) => `${name} is missing, which ${given} requires`);
  });
  const isClaimAlone = isSet("OIDC_GROUPS_CLAIM") && !WHOLE[0].some((it) => it !== "PUBLIC_URL" && isSet(it));
  return isClaimAlone ? [...faults, "OIDC_ISSUER is missing, which OIDC_GROUPS_CLAIM requires"] : faults;
}

const SignInEnv = Type.Object(SIGN_IN_SETTINGS);

export function waysConfigOf(values: Static<typeof SignInEnv>): WaysConfig {
  return {
    oidc: oidcConfigOf(values),
    github: { client: githubClientOf(values), ...githubAddresses(values) },
    saml: samlConfigOf(values),
  };
}

function oidcConfigOf(values: Static<typeof SignInEnv>): WaysConfig["oidc"] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return null;
  return { issuer, clientId, clientSecret: new Secret(clientSecret), groupsClaim: values.OIDC_GROUPS_CLAIM };
}

function githubClientOf({ GITHUB_CLIENT_ID: id, GITHUB_CLIENT_SECRET: given }: Static<typeof SignInEnv>) {
  return id === undefined || given === undefined ? null : { id, secret: new Secret(given) };
}
