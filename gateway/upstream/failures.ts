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

/** Whether a request failed before it was connected. */
export const neverSent = (cause: unknown): boolean => NOT_SENT.has(codeOf(cause));

/**
 * The error type of a failed request. `upstream_unreachable`: the provider never got it (DNS, port, certificate or
 * connect timeout). `upstream_broken`: it may have been `sent`, so the provider may have processed it.
 */
export function failureOf(cause: unknown, sent: boolean): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  return sent && !neverSent(cause) ? "upstream_broken" : "upstream_unreachable";
}
