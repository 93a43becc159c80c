import { type ErrorType, GatewayError } from "../errors.ts";

/** Codes of Bun and of the system for failures that come before a request is sent, whoever watched the connection. */
const NOT_SENT = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

/** Whether a sending failed before there was a connection. */
export const neverSent = (cause: unknown): boolean => NOT_SENT.has(codeOf(cause));

/**
 * The error type of a rejected sending. `upstream_unreachable` means that the provider never got the request: its
 * name, its port, its certificate, or the time that connecting took. Once the request may have been `sent`, any other
 * failure, a reset above all, leaves open what the provider made of it, and is `upstream_broken`.
 */
export function failureOf(cause: unknown, sent: boolean): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  return sent && !neverSent(cause) ? "upstream_broken" : "upstream_unreachable";
}
