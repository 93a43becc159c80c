/** Notes a prepared statement for its end, and gives it back. */
export type Keep = <S extends { finalize(): void }>(statement: S) => S;

/** Keeps count of prepared statements: SQLite holds a file open for as long as one of its statements lives. */
export function statementKeeper(): { keep: Keep; finalizeAll(): void } {
  const kept: { finalize(): void }[] = [];
  return {
    keep: (statement) => {
      kept.push(statement);
      return statement;
    },
    finalizeAll: () => {
      for (const statement of kept) statement.finalize();
    },
  };
}
