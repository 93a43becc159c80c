import type { Log } from "#shared/log.ts";
import type { Call, Choice } from "../call.ts";
import { ERRORS, type FailureCause, GatewayError } from "../errors.ts";
import type { Attempt } from "./attempt.ts";

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
    "a provider's answer broke off",
  );
