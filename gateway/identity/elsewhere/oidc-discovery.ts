import { type Static, Type } from "@sinclair/typebox";
import { createRemoteJWKSet, customFetch } from "jose";
import { fits, open } from "#shared/schema.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { ANSWER_MS_MAX, askProvider } from "./ask-provider.ts";
import { SignInFault, withoutSlash } from "./way-in.ts";

/** What an issuer says of itself (OpenID Connect Discovery 1.0, 3), as far as it is used. */
const Discovered = open({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.Optional(Type.String()),
  id_token_signing_alg_values_supported: Type.Array(Type.String()),
  scopes_supported: Type.Optional(Type.Array(Type.String())),
  token_endpoint_auth_methods_supported: Type.Optional(Type.Array(Type.String())),
});

export type Issuer = Static<typeof Discovered> & { keys: ReturnType<typeof createRemoteJWKSet> };

/** Anyone can make an unsigned token, and of a symmetric key the issuer publishes nothing. */
const isVerifiable = (algorithm: string): boolean => /^(RS|PS|ES|Ed)/.test(algorithm);

/**
 * Asks an issuer for its addresses and keys at the first sign-in, so that the gateway starts while the issuer is
 * away. What it answered is kept until the process ends; its keys are asked for again as they change.
 */
export function openDiscovery(url: string, reach: OutboundFetch): () => Promise<Issuer> {
  let known: Issuer | null = null;
  return async () => {
    known ??= await discover(url, reach);
    return known;
  };
}

/** @throws SignInFault unavailable */
async function discover(url: string, reach: OutboundFetch): Promise<Issuer> {
  const { body } = await askProvider(reach)(`${withoutSlash(url)}/.well-known/openid-configuration`);
  if (!fits(Discovered, body) || withoutSlash(body.issuer) !== withoutSlash(url)) {
    throw new SignInFault("unavailable", null, new Error("the issuer's discovery document is not its own"));
  }
  const algorithms = body.id_token_signing_alg_values_supported.filter(isVerifiable);
  const keys = createRemoteJWKSet(new URL(body.jwks_uri), {
    timeoutDuration: ANSWER_MS_MAX,
    [customFetch]: (from, { method, headers, signal }) =>
      reach(
        { url: from, allowPrivateNetwork: true },
        { method, headers: Object.fromEntries(headers), signal },
      ),
  });
  return { ...body, id_token_signing_alg_values_supported: algorithms, keys };
}
