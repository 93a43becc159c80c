import type { Profile, SAML } from "@node-saml/node-saml";
import { type Static, Type } from "@sinclair/typebox";
import { readInstant } from "#shared/admin/fields.ts";
import { Email, PersonName, storedEmail } from "#shared/admin/people.ts";
import { closed, fits, nullable, open } from "#shared/schema.ts";
import { SignInFault } from "./way-in.ts";

export type SamlConfig = {
  /** Where the identity provider takes sign-in requests (HTTP-Redirect). */
  entryPoint: string;
  /** The identity provider's entity id. */
  issuer: string;
  /** Its signing certificate, as base64 of DER. */
  certificate: string;
  /** The attribute that lists the person's groups. */
  groupsAttribute: string;
};

/** The configuration, and the URL at which browsers reach the gateway, which is its entity id, too. */
export type SamlParties = SamlConfig & { url: string };

const CLOCK_SKEW_MS = 60_000;

const callbackOf = (url: string): string => `${url}/auth/callback/saml`;

export async function samlClient(
  { entryPoint, certificate, url }: SamlParties,
  requestId: string,
): Promise<SAML> {
  const { SAML } = await import("@node-saml/node-saml");
  return new SAML({
    entryPoint,
    idpCert: certificate,
    issuer: url,
    audience: url,
    callbackUrl: callbackOf(url),
    generateUniqueId: () => requestId,
    wantAssertionsSigned: true,
    // Some sign the assertion alone, which is what counts.
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    identifierFormat: null,
    // The provider decides how people authenticate.
    disableRequestedAuthnContext: true,
  });
}

/** A person, and the request that the assertion about them answers. */
export const SamlAnswer = closed({
  requestId: Type.String({ minLength: 1 }),
  accountId: Type.String({ minLength: 1, maxLength: 1000 }),
  email: Type.String(),
  name: nullable(Type.String()),
  groups: Type.Array(Type.String()),
});
export type SamlAnswer = Static<typeof SamlAnswer>;

export type VerifiedAnswer = { answer: SamlAnswer; assertionId: string; endsAtMs: number };

/** What a browser posts for the identity provider, verified. @throws SignInFault invalid_answer; email_missing. */
export async function verifiedAnswer(
  parties: SamlParties,
  response: string,
  nowMs: number,
): Promise<VerifiedAnswer> {
  // The library makes no requests, so every error that it throws is a fault of the input.
  const client = await samlClient(parties, "");
  const { profile } = await client
    .validatePostResponseAsync({ SAMLResponse: response })
    .catch(() => ({ profile: null }));
  if (!profile) throw new SignInFault("invalid_answer");
  const assertion: unknown = profile.getAssertion?.();
  const confirmations = confirmationsOf(assertion);
  const isRunning = ({ endsAtMs }: Confirmed) => nowMs < endsAtMs;
  const confirmed = confirmations.find((it) => it.recipient === callbackOf(parties.url) && isRunning(it));
  if (!confirmed || !fits(Assertion, assertion)) throw new SignInFault("invalid_answer");
  return {
    answer: { requestId: confirmed.requestId, ...personOf(profile, parties) },
    assertionId: assertion.Assertion.$.ID,
    endsAtMs: Math.max(...confirmations.map(({ endsAtMs }) => endsAtMs)),
  };
}

const FORMAT = "urn:oasis:names:tc:SAML:";
const EMAIL_FORMAT = `${FORMAT}1.1:nameid-format:emailAddress`;
const TRANSIENT = `${FORMAT}2.0:nameid-format:transient`;
const CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";
/** How identity providers name them. */
const EMAIL_ATTRIBUTES = ["email", "mail", `${CLAIMS}/emailaddress`, "urn:oid:0.9.2342.19200300.100.1.3"];
const NAME_ATTRIBUTES = [
  "displayName",
  "name",
  "http://schemas.microsoft.com/identity/claims/displayname",
  "urn:oid:2.16.840.1.113730.3.1.241",
];
const GROUPS_MAX = 1000;

function personOf(profile: Profile, { issuer, groupsAttribute }: SamlConfig): Omit<SamlAnswer, "requestId"> {
  const { nameID, nameIDFormat } = profile;
  if (profile.issuer !== issuer) throw new SignInFault("invalid_answer");
  const email = firstOf(profile, EMAIL_ATTRIBUTES) ?? (nameIDFormat === EMAIL_FORMAT ? nameID : undefined);
  if (!fits(Email, email)) throw new SignInFault("email_missing");
  const name = firstOf(profile, NAME_ATTRIBUTES);
  return {
    // A transient name is another one at each sign-in.
    accountId: nameIDFormat === TRANSIENT || !nameID ? storedEmail(email) : nameID,
    email,
    name: fits(PersonName, name) ? name : null,
    groups: valuesOf(profile, groupsAttribute).slice(0, GROUPS_MAX),
  };
}

const firstOf = (profile: Profile, names: readonly string[]): string | undefined =>
  names.flatMap((name) => valuesOf(profile, name))[0];

function valuesOf({ attributes }: Profile, name: string): string[] {
  const members: Readonly<Record<string, unknown>> = Object(attributes);
  return [Object.hasOwn(members, name) ? members[name] : []].flat().filter((it) => typeof it === "string");
}

const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";

const Confirmation = open({
  $: open({ Method: Type.Literal(BEARER) }),
  SubjectConfirmationData: Type.Tuple([
    open({
      $: open({ Recipient: Type.String(), NotOnOrAfter: Type.String(), InResponseTo: Type.String() }),
    }),
  ]),
});
const Assertion = open({
  Assertion: open({
    $: open({ ID: Type.String({ minLength: 1 }) }),
    Subject: Type.Tuple([open({ SubjectConfirmation: Type.Array(Type.Unknown()) })]),
  }),
});

type Confirmed = { recipient: string; requestId: string; endsAtMs: number };

/**
 * The requests that a signed assertion confirms, and for whom (SAML Profiles, 4.1.4.3). The response around an assertion
 * names a request, too, but need not be signed.
 */
const confirmationsOf = (assertion: unknown): Confirmed[] =>
  (fits(Assertion, assertion) ? assertion.Assertion.Subject[0].SubjectConfirmation : [])
    .filter((it) => fits(Confirmation, it))
    .map((it) => it.SubjectConfirmationData[0].$)
    .map(({ Recipient: recipient, NotOnOrAfter, InResponseTo: requestId }) => ({
      recipient,
      requestId,
      endsAtMs: (readInstant(NotOnOrAfter) ?? Number.NEGATIVE_INFINITY) + CLOCK_SKEW_MS,
    }));
