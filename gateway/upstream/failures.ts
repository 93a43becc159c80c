import { type ErrorType, GatewayError } from "../errors.ts";

/**
 * The error type of a rejected sending. `upstream_unreachable` means that the provider never got the request: its
 * name, its port, its certificate, or the time that connecting took. Once the request was `sent`, any failure, a reset
 * above all, leaves open what the provider made of it, and is `upstream_broken`.
 */
export function failureOf(cause: unknown, sent: boolean): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  return sent ? "upstream_broken" : "upstream_unreachable";
}
