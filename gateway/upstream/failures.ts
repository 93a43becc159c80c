import { type ErrorType, type FailureCause, GatewayError } from "../errors.ts";

/** A failure whose cause the gateway itself knows, and not the system. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly reason: FailureCause;
  constructor(reason: FailureCause, cause?: unknown) {
    super(`a provider gave no complete answer: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Error codes of Bun and the system. `sent`: the provider may have got the request. */
const CODES: Readonly<Record<string, { reason: FailureCause; sent: boolean }>> = {
  ConnectionRefused: { reason: "refused", sent: false },
  ECONNREFUSED: { reason: "refused", sent: false },
  FailedToOpenSocket: { reason: "unroutable", sent: false },
  EHOSTUNREACH: { reason: "unroutable", sent: true },
  ENETUNREACH: { reason: "unroutable", sent: true },
  ENOTFOUND: { reason: "dns", sent: false },
  EAI_AGAIN: { reason: "dns", sent: false },
  EPROTO: { reason: "tls", sent: true },
  ECONNRESET: { reason: "reset", sent: true },
  ConnectionClosed: { reason: "reset", sent: true },
  EPIPE: { reason: "reset", sent: true },
  UnrequestedUpgrade: { reason: "bad_answer", sent: true },
};

/** Codes of OpenSSL for a certificate that is not accepted, and of Bun for answers that are not HTTP. */
const PATTERNS: readonly (readonly [RegExp, FailureCause])[] = [
  [/CERT|^ERR_(?:TLS|SSL)|^UNABLE_TO_|_CA$|^HOSTNAME_MISMATCH$/, "tls"],
  [/^Malformed_HTTP|^InvalidHTTP|^InvalidChunk|^HTTP/i, "bad_answer"],
];

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

const knownCode = (cause: unknown) => {
  const code = codeOf(cause);
  return Object.hasOwn(CODES, code) ? CODES[code] : undefined;
};

/** Whether a request failed before it was connected. */
export const neverSent = (cause: unknown): boolean => knownCode(cause)?.sent === false;

/** Why a provider gave no complete answer. */
export function failureCauseOf(cause: unknown): FailureCause {
  if (cause instanceof ProviderFailure) return cause.reason;
  if (cause instanceof GatewayError) return failureCauseOf(cause.cause);
  const code = codeOf(cause);
  return knownCode(cause)?.reason ?? PATTERNS.find(([pattern]) => pattern.test(code))?.[1] ?? "other";
}

/**
 * The error type of a failed request. `upstream_unreachable`: the provider never got it (DNS, port, certificate or
 * connect timeout). `upstream_broken`: it may have been `sent`, so the provider may have processed it.
 */
export function failureOf(cause: unknown, sent: boolean): ErrorType {
  if (cause instanceof GatewayError) return cause.type;
  return sent && !neverSent(cause) ? "upstream_broken" : "upstream_unreachable";
}
