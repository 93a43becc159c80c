import { Elysia } from "elysia";
import type { Call, HeaderView } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { cachedHeaders } from "../http/headers.ts";
import { isClientKeyForm } from "../stores/client-secret.ts";
import type { Refusals } from "./refusals.ts";

/** The caller: its key, and the other credential sent with it, if any. */
type Known = Pick<Call, "key" | "passthroughCredential">;

/** The caller and its headers, which are read once. */
export type Caller = Known & Pick<Call, "headers">;

export type CallerCheck = KeyLookup & {
  /** Whether a credential is the admin key, which never leaves this process. */
  isAdminKey(secret: string): boolean;
  refusals: Refusals;
};

export type KeyLookup = {
  /** Looks up by lower-case hex SHA-256 of the secret; synchronous if the key is in memory. */
  keyOf(sha256Hex: string): ClientKey | null | Promise<ClientKey | null>;
};

/** Every secret that the gateway mints (client and admin keys, refresh tokens, codes of devices and links), with whatever around it. */
const OURS = /tg[a-z]?_[0-9A-Za-z]{43}/;

function lookUp(keys: KeyLookup, secret: string): ReturnType<KeyLookup["keyOf"]> {
  // A credential of any other form cannot be a key of ours and costs no lookup.
  if (!isClientKeyForm(secret)) return null;
  return keys.keyOf(Bun.SHA256.hash(secret, "hex"));
}

/**
 * Identifies the caller of a request. If `x-gateway-key` is present, it alone decides; otherwise the first of
 * `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` and `api-key` that is a known key.
 * @throws GatewayError unauthenticated; too_many_refusals; key_unverifiable if the key store cannot be read.
 */
export async function authenticate(
  callers: CallerCheck,
  request: Request,
  headers: HeaderView = request.headers,
): Promise<Known> {
  const { gatewayKey, bearer, apiKey, googleKey, azureKey } = readCredentials(headers);
  if (gatewayKey !== null) {
    const key = await lookUp(callers, gatewayKey);
    if (!key) throw callers.refusals.refused("client_key", request);
    return { key, passthroughCredential: passthroughCredential(callers, bearer, apiKey) };
  }
  const presented = [bearer, apiKey, googleKey, azureKey].filter((secret) => secret !== null);
  for (const secret of presented) {
    const key = await lookUp(callers, secret);
    if (key) return { key, passthroughCredential: null };
  }
  if (presented.length === 0) throw new GatewayError("unauthenticated", signedByAws(headers));
  throw callers.refusals.refused("client_key", request);
}

/** What AWS's SDKs need, because they sign calls by default. */
const signedByAws = (headers: HeaderView): string | undefined =>
  headers.get("authorization")?.startsWith("AWS4-")
    ? 'A call signed with AWS keys carries no client key. Give the SDK the client key as its API key: set AWS_BEARER_TOKEN_BEDROCK, or `token` and `authSchemePreference: ["httpBearerAuth"]`.'
    : undefined;

/**
 * Another party's credential, for subscription pass-through. The admin key and anything in the form of our keys are
 * excluded, known or not: a revoked key, or one that another replica has just created, must not reach a vendor either. A text
 * with a blank, which may hide one, is no credential.
 */
function passthroughCredential(
  { isAdminKey }: CallerCheck,
  bearer: string | null,
  apiKey: string | null,
): Call["passthroughCredential"] {
  const isForeign = (secret: string | null): secret is string =>
    secret !== null && !/\s/.test(secret) && !OURS.test(secret) && !isAdminKey(secret);
  if (isForeign(bearer)) return { header: "authorization", value: `Bearer ${bearer}` };
  return isForeign(apiKey) ? { header: "x-api-key", value: apiKey } : null;
}

/** Routes marked `{ clientKey: true }` get the caller as `caller`; the check is bound to the route, never to a path. */
const clientKey = (callers: CallerCheck) =>
  new Elysia({ name: "plugin.client-key" }).macro({
    clientKey: {
      async resolve({ request }) {
        const headers = cachedHeaders(request.headers);
        const { key, passthroughCredential } = await authenticate(callers, request, headers);
        return { caller: { key, passthroughCredential: passthroughCredential, headers } satisfies Caller };
      },
    },
  });

/** A part of the app whose routes can require a client key. */
export const keyed = ({ callers }: { callers: CallerCheck }, name: string) =>
  new Elysia({ name: `surface.${name}` }).use(clientKey(callers));
