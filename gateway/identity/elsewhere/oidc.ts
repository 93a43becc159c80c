import { Type } from "@sinclair/typebox";
import {
  authorizationCodeRequest,
  createAuthorizationURL,
  getOAuth2Tokens,
  verifyProviderIdToken,
} from "better-auth/oauth2";
import { decodeJwt } from "jose";
import { Email, PersonName } from "#shared/admin/people.ts";
import { fits, open } from "#shared/schema.ts";
import type { Secret } from "../../directory.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { type AskProvider, askProvider } from "./ask-provider.ts";
import { type Issuer, openDiscovery } from "./oidc-discovery.ts";
import {
  type Identified,
  type Returned,
  SignInFault,
  type Trip,
  type WayIn,
  withoutSlash,
} from "./way-in.ts";

export type OidcConfig = {
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** The claim that lists the person's groups. */
  groupsClaim: string;
};

/**
 * Sign-in at an OpenID Connect issuer: authorization code with PKCE, state and nonce, and an id token that is verified
 * against the issuer's keys. An e-mail counts only if the issuer says that it is verified.
 */
export function oidcWayIn(config: OidcConfig, reach: OutboundFetch): WayIn {
  const discovered = openDiscovery(config.issuer, reach);
  const ask = askProvider(reach);
  return {
    async authorizationUrl({ codeVerifier, nonce, redirectUri }, state) {
      const issuer = await discovered();
      return await createAuthorizationURL({
        id: "oidc",
        options: { clientId: config.clientId },
        authorizationEndpoint: issuer.authorization_endpoint,
        scopes: scopesOf(issuer, config),
        redirectURI: redirectUri,
        state,
        codeVerifier,
        nonce,
      });
    },
    async identify(trip, returned) {
      const issuer = await discovered();
      if (returned.issuer !== null && returned.issuer !== issuer.issuer)
        throw new SignInFault("invalid_answer");
      const tokens = await exchange(ask, { issuer, config, trip, returned });
      const claims = await verified(issuer, config, { idToken: tokens.idToken ?? "", nonce: trip.nonce });
      const isComplete = ["email", "email_verified", config.groupsClaim].every(
        (it) => claims[it] !== undefined,
      );
      const more = isComplete ? {} : await userInfo(ask, issuer, { subject: claims["sub"], ...tokens });
      return identified({ ...more, ...claims }, config);
    },
  };
}

/** A scope is asked for only where the issuer lists it: others refuse what they do not know. */
const scopesOf = (issuer: Issuer, { groupsClaim }: OidcConfig): string[] => [
  ...["openid", "email", "profile"],
  ...(issuer.scopes_supported?.includes(groupsClaim) ? [groupsClaim] : []),
];

type Exchange = { issuer: Issuer; config: OidcConfig; trip: Trip; returned: Returned };

/** The tokens for a code. @throws SignInFault invalid_answer: the issuer refuses the code, or this client. */
async function exchange(ask: AskProvider, { issuer, config, trip, returned }: Exchange) {
  // Without the list, an issuer takes `client_secret_basic` (Discovery 1.0, 3).
  const methods = issuer.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const method = methods.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
  const request = await authorizationCodeRequest({
    code: returned.code,
    codeVerifier: trip.codeVerifier,
    redirectURI: trip.redirectUri,
    options: { clientId: config.clientId, clientSecret: config.clientSecret.reveal() },
    tokenEndpoint: issuer.token_endpoint,
    tokenEndpointAuth: { method },
  });
  const { status, body } = await ask(issuer.token_endpoint, { method: "POST", ...request });
  if (status === 200 && fits(TokenAnswer, body)) return getOAuth2Tokens(body);
  throw new SignInFault(
    "invalid_answer",
    null,
    new Error(`the issuer refuses the code with status ${status}`),
  );
}

const TokenAnswer = open({ id_token: Type.String(), access_token: Type.String() });

type Claims = Readonly<Record<string, unknown>>;

/** The claims of an id token that the issuer has signed, for this client and this sign-in. @throws SignInFault */
async function verified(
  { issuer, keys, id_token_signing_alg_values_supported: algorithms }: Issuer,
  { clientId }: OidcConfig,
  { idToken, nonce }: { idToken: string; nonce: string },
): Promise<Claims> {
  const provider = { id: "oidc", idToken: { jwks: keys, issuer, audience: clientId, algorithms } };
  if (idToken === "" || nonce === "" || !(await verifyProviderIdToken(provider, idToken, nonce))) {
    throw new SignInFault("invalid_answer");
  }
  const claims = decodeJwt(idToken);
  // Who asked for it (OpenID Connect Core 1.0, 3.1.3.7); of several audiences, one must be named.
  const { azp = [claims.aud].flat().length === 1 ? clientId : null } = claims;
  if (azp !== clientId) throw new SignInFault("invalid_answer");
  return claims;
}

type Asked = { subject: unknown; accessToken?: string | undefined };

/** The issuer's claims about a person outside the id token; nothing if they are about another person. */
async function userInfo(ask: AskProvider, issuer: Issuer, { subject, accessToken = "" }: Asked) {
  if (issuer.userinfo_endpoint === undefined) return {};
  const { status, body } = await ask(issuer.userinfo_endpoint, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  return status === 200 && fits(UserInfo, body) && body.sub === subject ? body : {};
}

const UserInfo = open({ sub: Type.String() });

const SUBJECT = Type.String({ minLength: 1, maxLength: 255 });
const GROUPS_MAX = 1000;
const Elsewhere = open({ _claim_names: open({}) });

/** @throws SignInFault email_missing; email_unverified; invalid_answer. */
function identified(claims: Claims, config: OidcConfig): Identified {
  const { groupsClaim } = config;
  const { sub, email, name } = claims;
  if (!fits(SUBJECT, sub)) throw new SignInFault("invalid_answer");
  if (!fits(Email, email)) throw new SignInFault("email_missing");
  // Some issuers write the truth value as text.
  const isVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
  if (!isVerified) throw new SignInFault("email_unverified", email);
  const listed = [claims[groupsClaim] ?? []].flat().slice(0, GROUPS_MAX);
  // Too many groups are elsewhere (OpenID Connect Core 1.0, 5.6.2), as Entra has it.
  const isElsewhere = fits(Elsewhere, claims) && Object.hasOwn(claims._claim_names, groupsClaim);
  return {
    way: "oidc",
    issuer: withoutSlash(config.issuer),
    accountId: sub,
    email,
    name: fits(PersonName, name) ? name : null,
    groups: isElsewhere ? null : listed.filter((it) => typeof it === "string"),
    githubLogin: null,
  };
}
