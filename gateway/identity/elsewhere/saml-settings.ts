import { X509Certificate } from "node:crypto";
import { optional, text } from "#shared/env-forms.ts";
import type { SamlConfig } from "./saml.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

function isEntryPoint(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.hash !== "" || url.username !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
}

const isLine = (value: string): boolean => value.length <= 1000 && !/\p{Cc}/u.test(value);

/** A certificate as base64 of its DER, from PEM with line breaks or `\n` for them; null: it is none. */
function certificateIn(value: string): string | null {
  const base64 = value.replaceAll("\\n", "\n").replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    return new X509Certificate(Buffer.from(base64, "base64")).raw.toString("base64");
  } catch {
    return null;
  }
}

/** Settings of sign-in by SAML. */
export const SAML_SETTINGS = {
  SAML_ENTRY_POINT: optional(
    text("the identity provider's https URL for sign-in; http only on this machine", isEntryPoint),
  ),
  SAML_ISSUER: optional(text("the identity provider's entity id", isLine)),
  SAML_CERTIFICATE: optional(
    text("the identity provider's signing certificate, as PEM", (value) => certificateIn(value) !== null),
  ),
  SAML_GROUPS_ATTRIBUTE: text("the name of an attribute", isLine, "groups"),
};

const NEEDED = ["SAML_ENTRY_POINT", "SAML_ISSUER", "SAML_CERTIFICATE"] as const;
export type SamlName = keyof typeof SAML_SETTINGS | "PUBLIC_URL";

/** What the settings lack that others of them require. */
export function samlFaults(isSet: (name: SamlName) => boolean): string[] {
  const given = ([...NEEDED, "SAML_GROUPS_ATTRIBUTE"] as const).find(isSet);
  if (given === undefined) return [];
  const missing = ([...NEEDED, "PUBLIC_URL"] as const).filter((name) => !isSet(name));
  return missing.map((name) => `${name} is missing, which ${given} requires`);
}

export type SamlValues = Partial<Record<(typeof NEEDED)[number], string>> & { SAML_GROUPS_ATTRIBUTE: string };

export function samlConfigOf(values: SamlValues): SamlConfig | null {
  const { SAML_ENTRY_POINT: entryPoint, SAML_ISSUER: issuer } = values;
  const certificate = certificateIn(values.SAML_CERTIFICATE ?? "");
  if (entryPoint === undefined || issuer === undefined || certificate === null) return null;
  return { entryPoint, issuer, certificate, groupsAttribute: values.SAML_GROUPS_ATTRIBUTE };
}
