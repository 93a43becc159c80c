import type { SettledRow } from "./spool-file.ts";

/** Somewhere that settled rows wait for Postgres: the own spool file, a dead process's, or memory. */
export type Source = {
  /** The oldest rows that wait, in the order in which they were settled. */
  take(rowsMax: number): SettledRow[];
  /** `rows`, as taken, are in Postgres or parked. Never throws. */
  drop(rows: readonly SettledRow[]): void;
  /** Keeps a row that Postgres refused for its data; `code` is the SQLSTATE. Never throws. */
  park(row: SettledRow, code: string): void;
  /** A question that turns true once every row that waits now has been dropped. */
  mark(): () => boolean;
  /** When the oldest row that waits was settled, in milliseconds since 1970. */
  oldestAt(): number | null;
  backlog(): number;
};
