import { generateKeyPairSync, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Constants, IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } from "samlify";
import { scratch } from "#test/support/embedded.ts";
import { PUBLIC_URL } from "./redirects.ts";

// An identity provider by another library than the gateway's. Its schema validator needs Java, and it is no subject here.
setSchemaValidator({ validate: async () => "valid" });

export const ISSUER = "https://idp.example.com/metadata";
export const ENTRY_POINT = "https://idp.example.com/sso";
const ACS = `${PUBLIC_URL}/auth/callback/saml`;

/** A signing key and its certificate, both as PEM. */
export function signingKey(): { key: string; certificate: string } {
  const place = scratch();
  const key = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }).privateKey;
  const file = join(place.path, "key.pem");
  writeFileSync(file, key);
  const made = Bun.spawnSync(["openssl", "req", "-x509", "-key", file, "-days", "30", "-subj", "/CN=idp"]);
  if (made.exitCode !== 0) throw new Error(`openssl: ${made.stderr}`);
  return { key, certificate: made.stdout.toString() };
}

export type Assertion = {
  /** The request that it answers. */
  inResponseTo: string;
  nameId: string;
  attributes: Record<string, string | string[]>;
  issuer?: string;
  audience?: string;
  recipient?: string;
  /** Minutes from now at which it ends. */
  minutes?: number;
  format?: string;
  assertionId?: string;
};

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const attributeXml = (attributes: Assertion["attributes"]): string =>
  Object.entries(attributes)
    .map(([name, values]) => {
      const each = [values]
        .flat()
        .map((value) => `<saml:AttributeValue>${escaped(value)}</saml:AttributeValue>`);
      return `<saml:Attribute Name="${name}">${each.join("")}</saml:Attribute>`;
    })
    .join("");

/** The `SAMLResponse` of a signed assertion. */
export async function signedAnswer({ key, certificate }: ReturnType<typeof signingKey>, it: Assertion) {
  const provider = IdentityProvider({
    entityID: it.issuer ?? ISSUER,
    signingCert: certificate,
    privateKey: key,
    singleSignOnService: [{ Binding: Constants.namespace.binding.redirect, Location: ENTRY_POINT }],
    singleLogoutService: [{ Binding: Constants.namespace.binding.redirect, Location: ENTRY_POINT }],
    loginResponseTemplate: { context: template(it), attributes: [] },
  });
  const gateway = ServiceProvider({
    entityID: PUBLIC_URL,
    wantAssertionsSigned: true,
    assertionConsumerService: [{ Binding: Constants.namespace.binding.post, Location: ACS }],
  });
  const asked = { extract: { request: { id: it.inResponseTo } } };
  const fill = (text: string) => ({ id: "_answer", context: SamlLib.replaceTagsByValue(text, tagsOf(it)) });
  const { context } = await provider.createLoginResponse(gateway, asked, "post", {}, fill);
  return context;
}

const template = ({ attributes }: Assertion): string =>
  SamlLib.defaultLoginResponseTemplate.context
    .replace(
      "{AttributeStatement}",
      `<saml:AttributeStatement>${attributeXml(attributes)}</saml:AttributeStatement>`,
    )
    .replace("{AuthnStatement}", "");

function tagsOf(it: Assertion): Record<string, string> {
  const now = new Date();
  const end = new Date(now.getTime() + (it.minutes ?? 5) * 60_000).toISOString();
  const recipient = it.recipient ?? ACS;
  return {
    ID: "_answer",
    AssertionID: it.assertionId ?? `_assertion-${randomUUID()}`,
    Destination: recipient,
    Audience: it.audience ?? PUBLIC_URL,
    SubjectRecipient: recipient,
    Issuer: it.issuer ?? ISSUER,
    IssueInstant: now.toISOString(),
    StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Success",
    ConditionsNotBefore: new Date(now.getTime() - 600_000).toISOString(),
    ConditionsNotOnOrAfter: end,
    SubjectConfirmationDataNotOnOrAfter: end,
    NameIDFormat: it.format ?? "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    NameID: it.nameId,
    InResponseTo: it.inResponseTo,
  };
}

/** The request that the gateway sends a browser away with. */
export function requestIn(location: URL): { id: string; xml: string; state: string } {
  const deflated = Buffer.from(location.searchParams.get("SAMLRequest") ?? "", "base64");
  const xml = Buffer.from(Bun.inflateSync(deflated, { windowBits: -15 })).toString();
  const [, id = ""] = /\bID="([^"]+)"/.exec(xml) ?? [];
  return { id, xml, state: location.searchParams.get("RelayState") ?? "" };
}
