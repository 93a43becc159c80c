import { createSign } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "#shared/clock.ts";
import { parsedJson } from "#shared/json.ts";
import type { Provider } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import type { OutboundFetch } from "../outbound-fetch.ts";

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Google's maximum. */
const ASSERTION_SECONDS = 3600;
const DEADLINE_MS = 5000;
/** A token is not used in its last minute, so that it is still valid when the call arrives. */
const SPARE_MS = 60_000;
const TOKENS_MAX = 1000;

const ServiceAccount = Type.Object({
  client_email: Type.String({ minLength: 1 }),
  private_key: Type.String({ minLength: 1 }),
  token_uri: Type.Optional(Type.String()),
});
type ServiceAccount = Static<typeof ServiceAccount>;

const Granted = Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Type.Number() });
type Granted = Static<typeof Granted>;

export type GoogleDeps = { clock: Clock; reach: OutboundFetch };

export type GoogleHeaders = (credential: string, provider: Provider) => Promise<Record<string, string>>;

/**
 * Authenticates with a service account: a signed assertion is exchanged for an access token (RFC 7523), which is used
 * until shortly before it expires. A credential that is not JSON is taken as an access token.
 * Rejects with GatewayError provider_unconfigured if Google refuses the account, upstream_unreachable if Google cannot
 * be reached.
 */
export function googleSigner({ clock, reach }: GoogleDeps): GoogleHeaders {
  type CachedToken = { granted: Promise<Granted>; untilMs: number };
  const tokens = new Map<string, CachedToken>();

  function tokenOf(credential: string, provider: Provider): Promise<Granted> {
    const known = tokens.get(credential);
    if (known && known.untilMs > clock.monotonicMs()) return known.granted;
    if (tokens.size >= TOKENS_MAX) tokens.clear();
    // Concurrent calls wait for the same token.
    const entry: CachedToken = {
      granted: requestToken(credential, provider),
      untilMs: Number.POSITIVE_INFINITY,
    };
    tokens.set(credential, entry);
    entry.granted.then(
      ({ expires_in }) => {
        entry.untilMs = clock.monotonicMs() + expires_in * 1000 - SPARE_MS;
      },
      () => tokens.delete(credential),
    );
    return entry.granted;
  }

  async function requestToken(credential: string, provider: Provider): Promise<Granted> {
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
  const account: unknown = parsedJson(credential);
  if (!Value.Check(ServiceAccount, account)) throw new GatewayError("provider_unconfigured");
  return account;
}

/** The signed JWT assertion (RFC 7523, section 3). */
function assertionOf({ client_email, private_key }: ServiceAccount, audience: string, now: Date): string {
  const issuedSeconds = Math.floor(now.getTime() / 1000);
  const claims = {
    iss: client_email,
    scope: SCOPE,
    aud: audience,
    iat: issuedSeconds,
    exp: issuedSeconds + ASSERTION_SECONDS,
  };
  const unsigned = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  try {
    return `${unsigned}.${createSign("RSA-SHA256").update(unsigned).sign(private_key, "base64url")}`;
  } catch {
    throw new GatewayError("provider_unconfigured");
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
