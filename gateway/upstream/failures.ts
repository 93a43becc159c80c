import type { HeaderView } from "../call.ts";
import { ERRORS, type ErrorType, type FailureCause, GatewayError } from "../errors.ts";

/** A failure whose cause the gateway itself knows, and not the system. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly reason: FailureCause;
  constructor(reason: FailureCause, cause?: unknown) {
    super(`a provider gave no complete answer: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** A request to a provider or a tool server without a complete answer: its kind, and the cause that a client may see. */
export class UnansweredRequest extends GatewayError {
  readonly reason: FailureCause;
  constructor(
    type: ErrorType,
    reason: FailureCause,
    { message, cause }: { message: string; cause: unknown },
  ) {
    super(type, message, cause);
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
  EMFILE: { reason: "file_limit", sent: false },
  ENFILE: { reason: "file_limit", sent: false },
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
  if (cause instanceof ProviderFailure || cause instanceof UnansweredRequest) return cause.reason;
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

type Failed = {
  /** Such as `provider openai`. */
  who: string;
  cause: unknown;
  /** The deadline for an answer has passed. */
  late: boolean;
  /** How the client reads each type, where the general sentence does not fit. */
  sentences?: Partial<Record<ErrorType, string>>;
};

/** The error of a request that was sent once, with who failed and why; the gateway's own final errors stay. */
export function unanswered({ who, cause, late, sentences = {} }: Failed): GatewayError {
  if (cause instanceof GatewayError && ERRORS[cause.type].final) return cause;
  const reason = late ? "timeout_first_byte" : failureCauseOf(cause);
  const type = late ? "upstream_timeout" : failureOf(cause, reason !== "redirect");
  const sentence = sentences[type] ?? ERRORS[type].public;
  return new UnansweredRequest(type, reason, {
    message: `${sentence.slice(0, -1)} (${who}, cause ${reason}).`,
    cause,
  });
}

/** The cause of a failure, however deep a library wrapped it; null if there was an answer. */
export function reasonIn(error: unknown): FailureCause | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof UnansweredRequest) return cause.reason;
  }
  return null;
}

/** Most bytes of an answer's headers, names and values. */
const HEADER_BYTES_MAX = 64 * 1024;

/** Why an answer cannot be passed on, if it cannot. Redirects would carry prompt and credential elsewhere. */
export function answerFault({ status }: Response, headers: HeaderView): FailureCause | null {
  if (status >= 300 && status < 400) return "redirect";
  if (status < 200 || status > 599) return "bad_status";
  const table = headers.toJSON();
  let size = 0;
  for (const name in table) size += name.length + (table[name]?.length ?? 0);
  return size > HEADER_BYTES_MAX ? "headers_too_large" : null;
}
