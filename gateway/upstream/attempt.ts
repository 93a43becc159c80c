import type { Log } from "#shared/log.ts";
import type { Call, Choice, HeaderView, Target } from "../call.ts";
import { ERRORS, type ErrorType, type FailureCause, GatewayError } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import type { Translation } from "./translation.ts";

/** The result of sending a call to its targets: the answer of the last one that was tried, or its failure. */
export type Attempt =
  | {
      kind: "answer";
      answer: Response;
      /** Its headers, read once. */
      headers: HeaderView;
      target: Target;
      attempts: number;
      /** The gateway requested the usage chunk; the client did not. */
      usageRequested: boolean;
      /** An earlier target took the request and gave no answer: it may bill the call as well. */
      maybeBilled?: boolean;
      /** Translates the answer back; null if the call was not translated. */
      translation: Translation | null;
      abort(): void;
    }
  | {
      kind: "failed";
      type: ErrorType;
      /** Null where the gateway itself did not send the call. */
      reason: FailureCause | null;
      target: Target;
      attempts: number;
      cause: unknown;
      /** The provider may have got the request. */
      sent: boolean;
      /** Aborted because the client disconnected. */
      left: boolean;
      maybeBilled?: boolean;
    };

type Failed = Pick<Extract<Attempt, { kind: "failed" }>, "type" | "reason" | "cause" | "target" | "attempts">;

/** The gateway's own refusals keep their message; of other failures the client sees who failed and the kind of cause. */
export function attemptError(
  { type, reason, cause, target, attempts }: Failed,
  choice: Choice,
): GatewayError {
  if (reason === null) return cause instanceof GatewayError ? cause : new GatewayError(type);
  const facts = `provider ${target.provider.name}, route ${choice.routeName}, attempt ${attempts}, cause ${reason}`;
  return new GatewayError(type, `${ERRORS[type].public.slice(0, -1)} (${facts}).`);
}

type BrokenAnswer = { choice: Choice; attempt: Extract<Attempt, { kind: "answer" }>; cause: FailureCause };

/** Logs that an answer that had begun broke off. */
export const noteFailure = (
  { log }: { log: Log },
  call: Call,
  { choice, attempt, cause }: BrokenAnswer,
): void =>
  log.warn(
    {
      requestId: call.id,
      provider: attempt.target.provider.name,
      route: choice.routeName,
      attempt: attempt.attempts,
      cause,
    },
    "a provider's answer ended early",
  );

export type AnsweredAttempt = Extract<Attempt, { kind: "answer" }>;

export const isEventAnswer = ({ headers }: Pick<AnsweredAttempt, "headers">): boolean =>
  isEventType(headers.get("content-type"));

/** Whether the answer is framed. If not, it ends with its connection, and a cut-off answer looks complete. */
export const isFramed = ({ headers }: AnsweredAttempt): boolean =>
  headers.has("content-length") || headers.has("transfer-encoding");

export const isJsonAnswer = ({ headers }: AnsweredAttempt): boolean =>
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");

/** How the answer is compressed, in lower case, because case has no meaning there; null if it is not. */
export function encodingOf({ headers }: Pick<AnsweredAttempt, "headers">): string | null {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  return encoding === "identity" ? null : encoding;
}
