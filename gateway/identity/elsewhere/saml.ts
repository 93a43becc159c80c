import type { Profile, SAML } from "@node-saml/node-saml";
import { type Static, Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { Email, PersonName, storedEmail } from "#shared/admin/people.ts";
import type { Clock } from "#shared/clock.ts";
import { closed, fits, nullable, open } from "#shared/schema.ts";
import { keepSamlReturn, takeSamlReturn } from "../../stores/identity/saml-returns.ts";
import { withStoreErrors } from "../../stores/store-errors.ts";
import { SignInFault, type WayIn } from "./way-in.ts";

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

export type SamlDeps = {
  database: Database;
  clock: Clock;
  /** URL at which browsers reach the gateway, which is its entity id, too. */
  url: string;
};

export type SamlWayIn = WayIn & {
  /** Verifies what a browser posts for the identity provider; the code for its next request. @throws SignInFault */
  receive(response: string): Promise<string>;
};

const CLOCK_SKEW_MS = 60_000;

/**
 * Sign-in by SAML 2.0: signed assertions only, for this gateway, and for a request of the same browser. The answer comes
 * as another site's form, with which browsers send no `Lax` cookie. So it is verified, kept under a one-time code for a
 * minute, and counts only with the request that follows, which has the cookie.
 */
export function samlWayIn(config: SamlConfig, deps: SamlDeps): SamlWayIn {
  const { database, clock } = deps;
  return {
    async authorizationUrl({ nonce }, state) {
      const client = await clientOf(config, deps, requestIdOf(nonce));
      return new URL(await client.getAuthorizeUrlAsync(state, undefined, {}));
    },
    async receive(response) {
      const profile = await verified(await clientOf(config, deps, ""), response);
      const expected = { recipient: callbackOf(deps), now: clock.now(), skewMs: CLOCK_SKEW_MS };
      const requestId = confirmedRequest(profile.getAssertion?.(), expected);
      if (requestId === null) throw new SignInFault("invalid_answer");
      const answer = JSON.stringify({ requestId, ...personOf(profile, config) } satisfies Answer);
      return await withStoreErrors(() => keepSamlReturn(database, answer, clock.now()));
    },
    async identify({ nonce }, { code }) {
      const text = await withStoreErrors(() => takeSamlReturn(database, code, clock.now()));
      const answer: unknown = text === null ? null : JSON.parse(text);
      if (!fits(Answer, answer) || answer.requestId !== requestIdOf(nonce)) {
        throw new SignInFault("invalid_answer");
      }
      const { requestId: _, ...person } = answer;
      return { way: "saml", issuer: config.issuer, githubLogin: null, ...person };
    },
  };
}

/** An XML id must not begin with a digit, and the nonce itself stays in the cookie. */
const requestIdOf = (nonce: string): string =>
  `_${new Bun.CryptoHasher("sha256").update(nonce).digest("hex")}`;

const callbackOf = ({ url }: Pick<SamlDeps, "url">): string => `${url}/auth/callback/saml`;

/** Loads the library at the first sign-in: few gateways use it. */
async function clientOf(
  { entryPoint, certificate }: SamlConfig,
  { url }: SamlDeps,
  requestId: string,
): Promise<SAML> {
  const { SAML } = await import("@node-saml/node-saml");
  return new SAML({
    entryPoint,
    idpCert: certificate,
    issuer: url,
    audience: url,
    callbackUrl: callbackOf({ url }),
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

async function verified(client: SAML, response: string): Promise<Profile> {
  // It makes no requests, so every error that it throws is a fault of the input.
  const { profile } = await client
    .validatePostResponseAsync({ SAMLResponse: response })
    .catch(() => ({ profile: null }));
  if (!profile) throw new SignInFault("invalid_answer");
  return profile;
}

const Answer = closed({
  /** The request that the assertion answers. */
  requestId: Type.String({ minLength: 1 }),
  accountId: Type.String({ minLength: 1, maxLength: 1000 }),
  email: Type.String(),
  name: nullable(Type.String()),
  groups: Type.Array(Type.String()),
});
type Answer = Static<typeof Answer>;

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

/** @throws SignInFault email_missing; invalid_answer. */
function personOf(profile: Profile, { issuer, groupsAttribute }: SamlConfig): Omit<Answer, "requestId"> {
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
  Assertion: open({ Subject: Type.Tuple([open({ SubjectConfirmation: Type.Array(Type.Unknown()) })]) }),
});

type Expected = { recipient: string; now: Date; skewMs: number };

/**
 * The request that a signed assertion confirms for `recipient` (SAML Profiles, 4.1.4.3); null: it confirms none, or no
 * more. The response around an assertion names a request, too, but need not be signed.
 */
function confirmedRequest(assertion: unknown, { recipient, now, skewMs }: Expected): string | null {
  if (!fits(Assertion, assertion)) return null;
  for (const it of assertion.Assertion.Subject[0].SubjectConfirmation) {
    if (!fits(Confirmation, it)) continue;
    const { Recipient, NotOnOrAfter, InResponseTo } = it.SubjectConfirmationData[0].$;
    const endMs = readInstant(NotOnOrAfter);
    const isRunning = endMs !== null && now.getTime() < endMs + skewMs;
    if (Recipient === recipient && isRunning) return InResponseTo;
  }
  return null;
}
