import type { Probot } from "probot";
import { errorFields, type Log, type LogFields } from "#shared/log.ts";

/** Probot's logger type, without importing the logger that it comes from. */
export type ProbotLog = Probot["log"];

/**
 * A logger for Probot that drops all that Probot would write: it logs events, request bodies and error messages whole.
 * What stays is that something was reported, at which level, and an error's class, code and HTTP status.
 */
export function probotLog(log: Log): ProbotLog {
  const write = (level: "debug" | "info" | "warn" | "error") => (first: unknown) => {
    log[level]({ source: "probot", ...reported(first) }, "Probot reported something");
  };
  const quiet = {
    level: "info",
    silent: () => undefined,
    trace: () => undefined,
    debug: write("debug"),
    info: write("debug"),
    warn: write("warn"),
    error: write("error"),
    fatal: write("error"),
    child: () => quiet,
  };
  // Probot calls these methods only; the type is all of pino.
  return quiet as unknown as ProbotLog;
}

function reported(first: unknown): LogFields {
  const error = typeof first === "object" && first !== null && "err" in first ? first.err : first;
  if (!(error instanceof Error)) return {};
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined;
  return { ...errorFields(error), status };
}
