import { X509Certificate } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { optional, secret, text } from "#shared/env-forms.ts";
import { GITHUB_ADDRESS_SETTINGS, githubAddresses } from "#shared/github-app-config.ts";
import { Secret } from "../../directory.ts";
import type { WaysConfig } from "./ways.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** An https URL without a user or an anchor; http only on this machine. */
function isSecureUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.hash !== "" || url.username !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
}

const isLine = (value: string): boolean => value.length <= 1000 && !/\p{Cc}/u.test(value);

/** A certificate as base64 of its DER, from PEM with line breaks or `\n` for them; null: it is not one. */
function certificateIn(value: string): string | null {
  const base64 = value.replaceAll("\\n", "\n").replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    return new X509Certificate(Buffer.from(base64, "base64")).raw.toString("base64");
  } catch {
    return null;
  }
}

const isIssuer = (value: string): boolean => isSecureUrl(value) && !value.includes("?");

/** Settings of the ways to sign in elsewhere. */
export const SIGN_IN_SETTINGS = {
  OIDC_ISSUER: optional(text("the issuer's https URL without a query; http only on this machine", isIssuer)),
  OIDC_CLIENT_ID: optional(text("this gateway's client id at the issuer", isLine)),
  OIDC_CLIENT_SECRET: optional(secret("this gateway's client secret at the issuer", isLine)),
  OIDC_GROUPS_CLAIM: text("the name of a claim", isLine, "groups"),
  GITHUB_CLIENT_ID: optional(text("the client id of a GitHub App", isLine)),
  GITHUB_CLIENT_SECRET: optional(secret("the App's client secret", isLine)),
  ...GITHUB_ADDRESS_SETTINGS,
  SAML_ENTRY_POINT: optional(
    text("the identity provider's https URL for sign-in; http only on this machine", isSecureUrl),
  ),
  SAML_ISSUER: optional(text("the identity provider's entity id", isLine)),
  SAML_CERTIFICATE: optional(
    text("the identity provider's signing certificate, as PEM", (value) => certificateIn(value) !== null),
  ),
  SAML_GROUPS_ATTRIBUTE: text("the name of an attribute", isLine, "groups"),
};

/** For each way in, the settings that need each other, and what else belongs to it. */
const WAYS = [
  {
    needed: ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "PUBLIC_URL"],
    other: ["OIDC_GROUPS_CLAIM"],
  },
  { needed: ["GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET", "PUBLIC_URL"], other: [] },
  {
    needed: ["SAML_ENTRY_POINT", "SAML_ISSUER", "SAML_CERTIFICATE", "PUBLIC_URL"],
    other: ["SAML_GROUPS_ATTRIBUTE"],
  },
] as const;
type Name = (typeof WAYS)[number]["needed" | "other"][number];

/** Missing settings that other settings require. */
export const signInFaults = (isSet: (name: Name) => boolean): string[] =>
  WAYS.flatMap(({ needed, other }) => {
    const given = [...needed, ...other].find((name) => name !== "PUBLIC_URL" && isSet(name));
    const missing = given === undefined ? [] : needed.filter((name) => !isSet(name));
    return missing.map((name) => `${name} is missing, which ${given} requires`);
  });

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

function samlConfigOf(values: Static<typeof SignInEnv>): WaysConfig["saml"] {
  const { SAML_ENTRY_POINT: entryPoint, SAML_ISSUER: issuer } = values;
  const certificate = certificateIn(values.SAML_CERTIFICATE ?? "");
  if (entryPoint === undefined || issuer === undefined || certificate === null) return null;
  return { entryPoint, issuer, certificate, groupsAttribute: values.SAML_GROUPS_ATTRIBUTE };
}
