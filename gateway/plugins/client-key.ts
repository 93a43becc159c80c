import { Elysia } from "elysia";
import type { Call, HeaderView } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { cachedHeaders } from "../http/headers.ts";

/** The caller: its key, and the other credential sent with it, if any. */
type Known = Pick<Call, "key" | "passthroughCredential">;

/** The caller and its headers, which are read once. */
export type Caller = Known & Pick<Call, "headers">;

export type KeyLookup = {
  /** Looks up by lower-case hex SHA-256 of the secret; synchronous if the key is in memory. */
  keyOf(sha256Hex: string): ClientKey | null | Promise<ClientKey | null>;
};

const SECRET = /^tg_[0-9A-Za-z]{43}$/;
/** Client keys, and admin keys in the form generated at the first start. */
const OURS = /^tga?_[0-9A-Za-z]{43}$/;

function lookUp(keys: KeyLookup, secret: string): ReturnType<KeyLookup["keyOf"]> {
  // A credential of any other form cannot be a key of ours and costs no lookup.
  if (!SECRET.test(secret)) return null;
  return keys.keyOf(Bun.SHA256.hash(secret, "hex"));
}

/**
 * Identifies the caller of a request. If `x-gateway-key` is present, it alone decides; otherwise the first of
 * `Authorization: Bearer` and `x-api-key` that is a known key (decision: `x-gateway-key` decides alone).
 * @throws GatewayError unauthenticated; key_unverifiable if the key store cannot be read.
 */
export async function authenticate(keys: KeyLookup, headers: HeaderView): Promise<Known> {
  const { gatewayKey, bearer, apiKey } = readCredentials(headers);
  if (gatewayKey !== null) {
    const key = await lookUp(keys, gatewayKey);
    if (!key) throw new GatewayError("unauthenticated");
    return { key, passthroughCredential: passthroughCredential(bearer, apiKey) };
  }
  for (const secret of [bearer, apiKey]) {
    const key = secret === null ? null : await lookUp(keys, secret);
    if (key) return { key, passthroughCredential: null };
  }
  throw new GatewayError("unauthenticated");
}

/**
 * Another party's credential, for subscription pass-through. Anything in the form of our keys is excluded, known or
 * not: a revoked key, or one that another replica has just created, must not reach a vendor either.
 */
function passthroughCredential(bearer: string | null, apiKey: string | null): Call["passthroughCredential"] {
  if (bearer !== null && !OURS.test(bearer)) {
    return { header: "authorization", value: `Bearer ${bearer}` };
  }
  if (apiKey !== null && !OURS.test(apiKey)) return { header: "x-api-key", value: apiKey };
  return null;
}

/** Routes marked `{ clientKey: true }` get the caller as `caller`; the check is bound to the route, never to a path. */
export const clientKey = (keys: KeyLookup) =>
  new Elysia({ name: "plugin.client-key" }).macro({
    clientKey: {
      async resolve({ request }) {
        const headers = cachedHeaders(request.headers);
        const { key, passthroughCredential } = await authenticate(keys, headers);
        return { caller: { key, passthroughCredential: passthroughCredential, headers } satisfies Caller };
      },
    },
  });
