import { Elysia } from "elysia";
import type { Call, HeaderView } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { cachedHeaders } from "../http/headers.ts";

/** Who calls: the key, and the other credential that came beside it, if any. */
type Known = Pick<Call, "key" | "passthroughCredential">;

/** Who calls, and with which headers: they are read once. */
export type Caller = Known & Pick<Call, "headers">;

export type KeyLookup = {
  /** By lower-case hex SHA-256 of the secret; at once when the key is in memory. */
  keyOf(sha256Hex: string): ClientKey | null | Promise<ClientKey | null>;
};

const SECRET = /^tg_[0-9A-Za-z]{43}$/;
/** Client keys, and admin keys as they are made at the first start. */
const OURS = /^tga?_[0-9A-Za-z]{43}$/;

function lookUp(keys: KeyLookup, secret: string): ReturnType<KeyLookup["keyOf"]> {
  // Anything of another form is none of our keys, and costs no look-up.
  if (!SECRET.test(secret)) return null;
  return keys.keyOf(Bun.SHA256.hash(secret, "hex"));
}

/**
 * The caller of a request. `x-gateway-key` alone decides where it is present; otherwise the first of
 * `Authorization: Bearer` and `x-api-key` that is a known key (decision: `x-gateway-key` decides alone).
 * @throws GatewayError unauthenticated; key_unverifiable when the key store cannot be read.
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
 * A credential of somebody else's, for the subscription lane. Whatever has the form of our keys is none, known or not:
 * one that was revoked, or that another replica has just made, must not reach a vendor either.
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
