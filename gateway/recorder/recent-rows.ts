import type { SettledRow } from "./spool-file.ts";

/** The newest rows of a file in memory: what Postgres takes at once need not be read back. */
export type RecentRows = {
  /** The next row that was settled. */
  add(text: string): void;
  /** Rows with a number over `seq`; null when some of them are known to the file alone. */
  after(seq: number, rowsMax: number): SettledRow[] | null;
  /** Forgets rows up to and with this number. */
  drop(through: number): void;
};

/** Keeps at least so many of the newest rows, and at most twice as many. */
export function recentRows(rowsMin: number): RecentRows {
  let texts: string[] = [];
  let before = 0;

  function forget(rows: number): void {
    texts = texts.slice(rows);
    before += rows;
  }
  return {
    add(text) {
      texts.push(text);
      if (texts.length > 2 * rowsMin) forget(texts.length - rowsMin);
    },
    after(seq, rowsMax) {
      const from = seq - before;
      if (from < 0) return null;
      return texts.slice(from, from + rowsMax).map((text, index) => ({ seq: seq + index + 1, text }));
    },
    drop(through) {
      if (through > before) forget(Math.min(through - before, texts.length));
    },
  };
}
