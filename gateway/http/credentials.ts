import type { HeaderView } from "../call.ts";

/** The credentials of a request, not yet verified. */
export type PresentedCredentials = {
  /** If present, it alone decides, even if it is not a valid key. */
  gatewayKey: string | null;
  /** From `Authorization: Bearer`; null for other schemes. */
  bearer: string | null;
  apiKey: string | null;
  /** From `x-goog-api-key`. */
  googleKey: string | null;
  /** From `api-key`, Azure's. */
  azureKey: string | null;
};

const BEARER = /^bearer[ \t]+(.+)$/i;

/**
 * The credentials of a request, trimmed; empty ones count as absent. A header sent twice arrives joined with a comma,
 * and guessing which was meant is unsafe: `x-gateway-key` is kept as is, since it alone decides and no key contains a
 * comma; the others count as absent, so that nothing of them is looked up or forwarded.
 */
export function readCredentials(headers: HeaderView): PresentedCredentials {
  return {
    gatewayKey: present(headers.get("x-gateway-key")),
    bearer: single(BEARER.exec(present(headers.get("authorization")) ?? "")?.[1]),
    apiKey: single(headers.get("x-api-key")),
    googleKey: single(headers.get("x-goog-api-key")),
    azureKey: single(headers.get("api-key")),
  };
}

const present = (value: string | null | undefined): string | null => value?.trim() || null;

const single = (value: string | null | undefined): string | null =>
  value?.includes(",") ? null : present(value);
