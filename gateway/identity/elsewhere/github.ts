import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { authorizationCodeRequest, createAuthorizationURL } from "better-auth/oauth2";
import { Email, PersonName } from "#shared/admin/people.ts";
import { fits, open } from "#shared/schema.ts";
import type { GithubClient } from "../../stores/identity/github-client.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { type AskProvider, askProvider } from "./ask-provider.ts";
import { type Identified, type Returned, SignInFault, type Trip, type WayIn } from "./way-in.ts";

export type GithubPlace = { client: GithubClient; apiUrl: string; webUrl: string };

export type GithubDeps = {
  reach: OutboundFetch;
  installedAccounts(): Promise<ReadonlySet<number>>;
};

/** An App has permissions instead, and ignores them. */
const SCOPES = ["read:user", "user:email", "read:org"];

/**
 * Sign-in on GitHub, for active members of the organisations in which the App is installed. Only the primary e-mail
 * counts, once it is verified. The person's token is used once to sign in and is not stored.
 */
export function githubWayIn(place: GithubPlace, { reach, installedAccounts }: GithubDeps): WayIn {
  const ask = askProvider(reach);
  return {
    authorizationUrl: ({ codeVerifier, redirectUri }, state) =>
      createAuthorizationURL({
        id: "github",
        options: { clientId: place.client.id },
        authorizationEndpoint: `${place.webUrl}/login/oauth/authorize`,
        scopes: SCOPES,
        redirectURI: redirectUri,
        state,
        codeVerifier,
      }),
    async identify(trip, returned) {
      const asked = {
        ask,
        apiUrl: place.apiUrl,
        token: await tokenFor(ask, place, { ...trip, ...returned }),
      };
      const user = await answered(asked, "/user", User);
      const email = verifiedEmail(await answered(asked, "/user/emails", Emails));
      requireMember(await membershipsOf(asked), await installedAccounts(), email);
      return identified(place, user, email);
    },
  };
}

/** @throws SignInFault invalid_answer: GitHub refuses the code, or this client. */
async function tokenFor(ask: AskProvider, place: GithubPlace, it: Trip & Returned): Promise<string> {
  const tokenEndpoint = `${place.webUrl}/login/oauth/access_token`;
  const request = await authorizationCodeRequest({
    code: it.code,
    codeVerifier: it.codeVerifier,
    redirectURI: it.redirectUri,
    options: { clientId: place.client.id, clientSecret: place.client.secret.reveal() },
    tokenEndpoint,
    tokenEndpointAuth: { method: "client_secret_post" },
  });
  // GitHub answers 200 to a code that it refuses, too.
  const { body } = await ask(tokenEndpoint, { method: "POST", ...request });
  if (fits(Token, body)) return body.access_token;
  throw new SignInFault("invalid_answer", null, new Error("GitHub refuses the code"));
}

const Token = open({ access_token: Type.String({ minLength: 1 }) });
const User = open({
  id: Type.Integer(),
  login: Type.String(),
  name: Type.Optional(Type.Unknown()),
});
const Emails = Type.Array(open({ email: Email, primary: Type.Boolean(), verified: Type.Boolean() }));
const Memberships = Type.Array(
  open({ state: Type.String(), organization: open({ id: Type.Integer(), login: Type.String() }) }),
);
type Memberships = Static<typeof Memberships>;

type Asked = { ask: AskProvider; apiUrl: string; token: string };

/** @throws SignInFault invalid_answer: the App lacks a permission, or GitHub answers otherwise than it describes. */
async function answered<T extends TSchema>(
  { ask, apiUrl, token }: Asked,
  path: string,
  schema: T,
): Promise<Static<T>> {
  const headers = {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${token}`,
    "user-agent": "tallygate",
  };
  const { status, body } = await ask(apiUrl + path, { headers });
  if (status === 200 && fits(schema, body)) return body;
  throw new SignInFault("invalid_answer", null, new Error(`GitHub answers ${status} to ${path}`));
}

const PAGE = 100;
const PAGES_MAX = 20;

async function membershipsOf(asked: Asked): Promise<Memberships> {
  const all: Memberships = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const path = `/user/memberships/orgs?per_page=${PAGE}&page=${page}`;
    const found = await answered(asked, path, Memberships);
    all.push(...found);
    if (found.length < PAGE) break;
  }
  return all;
}

/** @throws SignInFault email_unverified */
function verifiedEmail(emails: Static<typeof Emails>): string {
  const primary = emails.find((it) => it.primary);
  if (!primary) throw new SignInFault("email_missing");
  if (!primary.verified) throw new SignInFault("email_unverified", primary.email);
  return primary.email;
}

/** @throws SignInFault not_member; membership_pending. */
function requireMember(memberships: Memberships, installed: ReadonlySet<number>, email: string): void {
  const here = memberships.filter(({ organization }) => installed.has(organization.id));
  if (here.some(({ state }) => state === "active")) return;
  throw new SignInFault(here.length > 0 ? "membership_pending" : "not_member", email);
}

const identified = (
  { webUrl }: GithubPlace,
  { id, login, name }: Static<typeof User>,
  email: string,
): Identified => ({
  way: "github",
  issuer: new URL(webUrl).host,
  accountId: String(id),
  email,
  name: fits(PersonName, name) ? name : null,
  groups: [],
  githubLogin: login,
});
