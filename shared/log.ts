import bunyan from "bunyan";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a log line may hold beside its message: ids, names and numbers. No objects, so no body can slip in. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** A logger that cannot print a prompt, an answer or a key: it takes flat fields and a fixed sentence. */
export type Log = {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
};

/** One JSON object a line on standard output, in bunyan's format. */
export const createLog = (name: string, level: LogLevel): Log => bunyan.createLogger({ name, level }) as Log;

/**
 * Logs what nothing caught by its class: the runtime would print its message and the lines of code around it. A stray rejection
 * must not end a process and cut its streams; after an uncaught throw no state can be trusted, so `end` ends it.
 */
export function logUncaught(log: Log, end: () => void): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));
  process.on("uncaughtException", (error) => {
    log.error(errorFields(error), "uncaught exception: stopping");
    end();
  });
}

/** The class and code of an error, for a log line; never its message, which may quote what a client sent. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return { error: error.name, code };
}
