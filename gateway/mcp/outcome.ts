import type { ToolStatus } from "#drizzle/schema/tools.ts";
import { isRecord } from "#shared/json.ts";
import type { ToolServer } from "../directory.ts";
import { type FailureCause, GatewayError } from "../errors.ts";
import { reasonIn } from "../upstream/failures.ts";
import { ToolServerRefusal } from "../upstream/tool-server.ts";

export type Outcome = {
  status: ToolStatus;
  /** A JSON-RPC code, `http_` and a status, or `unreachable`; null if there is none. */
  errorCode: string | null;
  /** Why the server gave no answer; null if it did. */
  errorCause: FailureCause | null;
  /** Whether the server did the work, or may have: only then does the call have a price. */
  worked: boolean;
};

/** Sent without an answer: a timeout, a broken connection, or the client disconnected. */
export const NO_ANSWER: Outcome = { status: "unknown", errorCode: null, errorCause: null, worked: true };
export const denied = (errorCode: string | null): Outcome => ({
  status: "denied",
  errorCode,
  errorCause: null,
  worked: false,
});
/** The server was never reached, or refused before it read the message. */
export const notTaken = (errorCode: string, errorCause: FailureCause | null = null): Outcome => ({
  status: "failed",
  errorCode,
  errorCause,
  worked: false,
});

export function outcomeOfFailure(error: unknown): Outcome {
  if (error instanceof ToolServerRefusal) return notTaken(`http_${error.status}`);
  const reason = reasonIn(error);
  const neverReached = error instanceof GatewayError && error.type === "upstream_unreachable";
  return neverReached ? notTaken("unreachable", reason) : { ...NO_ANSWER, errorCause: reason };
}

export function outcomeOf(response: Readonly<Record<string, unknown>>): Outcome {
  if (isRecord(response["error"])) return failedWith(response["error"]["code"]);
  return isRecord(response["result"]) ? outcomeOfResult(response["result"]) : NO_ANSWER;
}

export const failedWith = (code: unknown): Outcome => ({
  status: "failed",
  errorCode: typeof code === "number" ? String(code) : null,
  errorCause: null,
  worked: true,
});

export function outcomeOfResult(result: Readonly<Record<string, unknown>>): Outcome {
  const done = (status: ToolStatus, worked = true): Outcome => ({
    status,
    errorCode: null,
    errorCause: null,
    worked,
  });
  // The call is repeated with the requested input, and is counted then.
  if (result["resultType"] === "input_required") return done("pending", false);
  if (result["resultType"] === "task" || isRecord(result["task"])) return done("pending");
  return done(result["isError"] === true ? "failed" : "ok");
}

/** Exact USD of a call; null if no price is set. */
export function toolCallCost(
  server: ToolServer,
  tool: string,
  { worked }: Pick<Outcome, "worked">,
): string | null {
  if (!worked) return "0";
  return (Object.hasOwn(server.prices, tool) ? server.prices[tool] : null) ?? server.pricePerCall;
}
