import { type ErrorType, GatewayError } from "../errors.ts";

/** Error codes of Bun and the system for failures before a request is sent. */
const NOT_SENT = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

/** Whether a request failed before there was a connection. */
export const neverSent = (cause: unknown): boolean => NOT_SENT.has(codeOf(cause));

/**
 * The error type of a failed request. `upstream_unreachable`: the provider never got it (name, port, certificate or
 * connect timeout). Once it may have been `sent`, any other failure leaves open whether the provider processed it, and
 * is `upstream_broken`.
 */
export function failureOf(cause: unknown, sent: boolean): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  return sent && !neverSent(cause) ? "upstream_broken" : "upstream_unreachable";
}
