import { X509Certificate } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { optional, text } from "#shared/env-forms.ts";
import type { SamlConfig } from "./saml.ts";
import { isLine, isSecureUrl } from "./setting-forms.ts";

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
    text("the identity provider's https URL for sign-in; http only on this machine", isSecureUrl),
  ),
  SAML_ISSUER: optional(text("the identity provider's entity id", isLine)),
  SAML_CERTIFICATE: optional(
    text("the identity provider's signing certificate, as PEM", (value) => certificateIn(value) !== null),
  ),
  SAML_GROUPS_ATTRIBUTE: text("the name of an attribute", isLine, "groups"),
};

const SamlEnv = Type.Object(SAML_SETTINGS);
type SamlValues = Static<typeof SamlEnv>;

export function samlConfigOf(values: SamlValues): SamlConfig | null {
  const { SAML_ENTRY_POINT: entryPoint, SAML_ISSUER: issuer } = values;
  const certificate = certificateIn(values.SAML_CERTIFICATE ?? "");
  if (entryPoint === undefined || issuer === undefined || certificate === null) return null;
  return { entryPoint, issuer, certificate, groupsAttribute: values.SAML_GROUPS_ATTRIBUTE };
}
