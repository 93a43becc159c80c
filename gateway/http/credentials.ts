import type { HeaderView } from "../call.ts";

/** What a request presents as credentials. None of them is known to be valid. */
export type PresentedCredentials = {
  /** Decides alone where it is present, also when it is no key. */
  gatewayKey: string | null;
  /** Of `Authorization: Bearer`; null for another scheme. */
  bearer: string | null;
  apiKey: string | null;
};

const BEARER = /^bearer[ \t]+(.+)$/i;

/**
 * The credentials of a request: trimmed, empty ones absent. A header that was sent twice arrives folded with a comma,
 * and no reader may guess which was meant: as `x-gateway-key` it stays as it is, since that header decides alone and no
 * key has a comma; the other two count as absent, so that nothing of them is looked up or forwarded.
 */
export function readCredentials(headers: HeaderView): PresentedCredentials {
  return {
    gatewayKey: present(headers.get("x-gateway-key")),
    bearer: single(BEARER.exec(present(headers.get("authorization")) ?? "")?.[1]),
    apiKey: single(headers.get("x-api-key")),
  };
}

const present = (value: string | null | undefined): string | null => value?.trim() || null;

const single = (value: string | null | undefined): string | null =>
  value?.includes(",") ? null : present(value);
