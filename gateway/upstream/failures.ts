import { type ErrorType, GatewayError } from "../errors.ts";

/** Bun's and the system's codes of failures that happen before a request was sent. */
const NOT_SENT = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ConnectTimeout",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
]);

/**
 * The error type of a rejected sending. `upstream_unreachable` means that the provider never got the request;
 * anything else, a reset above all, leaves that open and is `upstream_broken`.
 */
export function failureOf(cause: unknown): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return NOT_SENT.has(code) ? "upstream_unreachable" : "upstream_broken";
}
