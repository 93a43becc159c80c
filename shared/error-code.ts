/** The code of an error as text, such as a system's, SQLite's or Postgres's own; "" if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
