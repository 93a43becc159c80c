import { createSign } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "#shared/clock.ts";
import type { Provider } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import type { OutboundFetch } from "../outbound-fetch.ts";

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** What Google allows at most. */
const ASSERTION_SECONDS = 3600;
const DEADLINE_MS = 5000;
/** A token is not used in its last minute: it must outlast the call's way to the provider. */
const SPARE_MS = 60_000;
const TOKENS_MAX = 1000;

/** A service account's key file, as far as it is read. */
const ServiceAccount = Type.Object({
  client_email: Type.String({ minLength: 1 }),
  private_key: Type.String({ minLength: 1 }),
  token_uri: Type.Optional(Type.String()),
});
type ServiceAccount = Static<typeof ServiceAccount>;

const Granted = Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Type.Number() });
type Granted = Static<typeof Granted>;

export type GoogleDeps = { clock: Clock; reach: OutboundFetch };

/** The headers that prove a call to Google. */
export type GoogleHeaders = (credential: string, provider: Provider) => Promise<Record<string, string>>;

/**
 * Proves calls with a service account: its signed word is changed for an access token (RFC 7523), which serves all
 * calls until it is about to expire. A credential that is no JSON is an access token already.
 * Rejects with GatewayError provider_unconfigured for an account that is refused, upstream_unreachable where nobody
 * could be asked.
 */
export function googleSigner({ clock, reach }: GoogleDeps): GoogleHeaders {
  type Kept = { granted: Promise<Granted>; untilMs: number };
  const kept = new Map<string, Kept>();

  function tokenOf(credential: string, provider: Provider): Promise<Granted> {
    const known = kept.get(credential);
    if (known && known.untilMs > clock.monotonicMs()) return known.granted;
    if (kept.size >= TOKENS_MAX) kept.clear();
    // Calls that come meanwhile wait for the same token.
    const entry: Kept = { granted: ask(credential, provider), untilMs: Number.POSITIVE_INFINITY };
    kept.set(credential, entry);
    entry.granted.then(
      ({ expires_in }) => {
        entry.untilMs = clock.monotonicMs() + expires_in * 1000 - SPARE_MS;
      },
      () => kept.delete(credential),
    );
    return entry.granted;
  }

  async function ask(credential: string, provider: Provider): Promise<Granted> {
    const account = accountOf(credential);
    const url = account.token_uri ?? TOKEN_URI;
    const assertion = assertionOf(account, url, clock.now());
    const form = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion,
    });
    const { allowPrivateNetwork } = provider;
    const answer = await reach(
      { url, allowPrivateNetwork },
      {
        method: "POST",
        headers: {},
        body: form,
        signal: AbortSignal.timeout(DEADLINE_MS),
      },
    ).catch((cause) => {
      if (cause instanceof GatewayError) throw cause;
      throw new GatewayError("upstream_unreachable", undefined, cause);
    });
    const granted: unknown = await answer.json().catch(() => null);
    if (answer.ok && Value.Check(Granted, granted)) return granted;
    throw new GatewayError(answer.status < 500 ? "provider_unconfigured" : "upstream_unreachable");
  }

  return async (credential, provider) => {
    const token = credential.trimStart().startsWith("{")
      ? (await tokenOf(credential, provider)).access_token
      : credential;
    return { authorization: `Bearer ${token}` };
  };
}

function accountOf(credential: string): ServiceAccount {
  const account: unknown = parsed(credential);
  if (!Value.Check(ServiceAccount, account)) throw new GatewayError("provider_unconfigured");
  return account;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The account's word that it asks for itself (RFC 7523, section 3). */
function assertionOf({ client_email, private_key }: ServiceAccount, audience: string, now: Date): string {
  const issuedSeconds = Math.floor(now.getTime() / 1000);
  const claims = {
    iss: client_email,
    scope: SCOPE,
    aud: audience,
    iat: issuedSeconds,
    exp: issuedSeconds + ASSERTION_SECONDS,
  };
  const said = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  try {
    return `${said}.${createSign("RSA-SHA256").update(said).sign(private_key, "base64url")}`;
  } catch {
    throw new GatewayError("provider_unconfigured");
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
