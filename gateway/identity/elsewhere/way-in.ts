import type { SignInCause } from "#shared/sign-in-causes.ts";

export type WayName = "oidc" | "github" | "saml";

/** The data shared by a trip to an identity provider and the return from it. */
export type Trip = {
  /** PKCE. */
  codeVerifier: string;
  /** The nonce that the id token must repeat. */
  nonce: string;
  /** Where the provider sends the browser back to. */
  redirectUri: string;
};

/** The data that the browser brought back. */
export type Returned = {
  code: string;
  /** The issuer that the answer names (RFC 9207); null: none. */
  issuer: string | null;
};

/** The person who signed in elsewhere, as the provider reports them. */
export type Identified = {
  way: WayName;
  /** Who keeps the account: OIDC issuer, SAML entity id, or GitHub host. */
  issuer: string;
  /** The account there: an id that never changes and is never given to another. */
  accountId: string;
  /** Verified there. */
  email: string;
  name: string | null;
  /** Null: the place leaves them out this time. */
  groups: readonly string[] | null;
  /** Null: the place says nothing about it. */
  githubLogin: string | null;
};

/** An identity provider where people sign in. */
export type WayIn = {
  /** Where the browser goes. @throws SignInFault */
  authorizationUrl(trip: Trip, state: string): Promise<URL>;
  /** Who came back. @throws SignInFault */
  identify(trip: Trip, returned: Returned): Promise<Identified>;
};

/** An OIDC issuer as accounts are stored with it. */
export const withoutSlash = (url: string): string => url.replace(/\/$/, "");

/** A sign-in that fails, and why. */
export class SignInFault extends Error {
  override readonly name = "SignInFault";
  readonly reason: SignInCause;
  /** The person who tried, if known. */
  readonly email: string | null;

  constructor(reason: SignInCause, email: string | null = null, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
    this.email = email;
  }
}
