import type { Probot } from "probot";
import { errorFields, type Log, type LogFields } from "#shared/log.ts";

/** Probot's logger type, without importing the logger that it comes from. */
export type ProbotLog = Probot["log"];

/** A logger for Probot, which logs bodies whole: only level, and an error's class, code and status remain. */
export function probotLog(log: Log): ProbotLog {
  const write = (level: "debug" | "info" | "warn" | "error") => (first: unknown) => {
    log[level]({ source: "probot", ...errorOf(first) }, "Probot logged an event");
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
  // Probot calls only these methods; the type is all of pino.
  return quiet as unknown as ProbotLog;
}

function errorOf(first: unknown): LogFields {
  const error = typeof first === "object" && first !== null && "err" in first ? first.err : first;
  if (!(error instanceof Error)) return {};
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined;
  return { ...errorFields(error), status };
}
