import { draftOf, type Entry } from "./entry.ts";
import { recentRows } from "./recent-rows.ts";
import { runningCalls } from "./running-calls.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import { turnReader, turnWriter } from "./turn-store.ts";
import { isDone, type Turn, type TurnBook, turnSweeper } from "./turn-sweep.ts";

/** The file that this process writes. What is recorded in one turn of the event loop is one row of it. */
export type TurnLog = Pick<SpoolFile, "parkedCount" | "usedBytes" | "close" | "destroy"> & {
  /** All of `entries`, or none. Throws SQLite's error. */
  write(entries: readonly Entry[]): void;
  /** Deletes the turns that nobody needs any more. Throws SQLite's error. */
  sweep(): void;
  /** The oldest settled rows with a number over `after`, in the order in which they were settled. */
  settledAfter(after: number, rowsMax: number): SettledRow[];
  /** When the oldest settled row with a number over `after` was settled. */
  oldestAt(after: number): number | null;
  /** Number of the newest settled row. Numbers have no gaps and are never given twice. */
  lastSeq(): number;
  /** Calls opened and not ended. */
  running(): number;
  isEmpty(): boolean;
};

/** Rows kept in memory: what some batches take, and a few megabytes. */
const RECENT_ROWS = 2000;

/** Opens or makes the own file of this process. Whoever opens it holds its lock (spool-lock.ts). */
export function openTurnLog(options: SpoolFileOptions): TurnLog {
  const file = openSpoolFile(options);
  const store = turnWriter(file);
  const readFrom = turnReader(file);
  const running = runningCalls();
  const recent = recentRows(RECENT_ROWS);
  const book: TurnBook = { turns: [], turnNumber: 0, lastSeq: 0, dropped: 0 };
  const sweep = turnSweeper(file, book, running, options.bytesMax);

  /** Only what is written can have happened: memory follows the file. */
  function follow(entries: readonly Entry[], turn: Turn): void {
    for (const entry of entries) {
      if (entry.kind === "intent") running.begin(entry.id, turn);
      else if (entry.kind === "settle" || entry.kind === "forget") running.end(entry.id);
      else if (entry.kind === "drop") book.dropped = Math.max(book.dropped, entry.through);
      if (entry.kind === "settle") recent.add(entry.text);
    }
  }

  function write(entries: readonly Entry[]): void {
    const draft = draftOf(entries);
    const turn = {
      n: book.turnNumber + 1,
      at: draft.at,
      lastSeq: book.lastSeq + draft.settled,
      running: 0,
      size: draft.body.length,
      carried: false,
    };
    store(turn.n, book.lastSeq, draft);
    if (draft.isTurn) {
      book.turns.push(turn);
      book.turnNumber = turn.n;
      book.lastSeq = turn.lastSeq;
    }
    follow(entries, turn);
    recent.drop(book.dropped);
  }

  const turnAfter = (seq: number) => book.turns.find((turn) => turn.lastSeq > seq);

  return {
    ...file,
    write,
    settledAfter: (after, rowsMax) => {
      const rows = recent.after(after, rowsMax);
      if (rows) return rows;
      const turn = turnAfter(after);
      return turn ? readFrom(turn.n, after, rowsMax) : [];
    },
    sweep,
    oldestAt: (after) => turnAfter(after)?.at ?? null,
    lastSeq: () => book.lastSeq,
    running: running.count,
    isEmpty: () => book.turns.every((turn) => isDone(turn, book.dropped)) && file.parkedCount() === 0,
  };
}
