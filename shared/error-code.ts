/** The code of an error as text, such as a system's, SQLite's or Postgres's own; "" if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a directory",
  EACCES: "you may not read it",
};

/** Why a file cannot be read, in words. */
export const readFault = (error: unknown): string =>
  READ_FAULTS[codeOf(error)] ?? (codeOf(error) || "unknown cause");
