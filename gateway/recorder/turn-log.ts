import { draftOf, type Entry } from "./entry.ts";
import type { Head } from "./head.ts";
import { NO_HEAD, openTurn, type Waiting } from "./open-turn.ts";
import { type RecentRows, recentRows } from "./recent-rows.ts";
import { runningCalls } from "./running-calls.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import { turnReader, turnWriter } from "./turn-store.ts";
import { isDone, type Turn, type TurnBook, turnSweeper } from "./turn-sweep.ts";

/**
 * The file that this process writes, and its head. What is recorded in one turn of the event loop, or in the
 * milliseconds for which the head keeps it, is one row of the file.
 */
export type TurnLog = Pick<SpoolFile, "parkedCount" | "usedBytes" | "close" | "destroy"> & {
  /** All of `entries`, or none; true when the file itself took something. Throws SQLite's error. */
  write(entries: readonly Entry[]): boolean;
  /** Stores what is still needed of the head in the file; true when that took something. Throws SQLite's error. */
  drain(): boolean;
  waiting(): Waiting;
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

type TurnLogOptions = SpoolFileOptions & { head?: Head };

/** Opens or makes the own file of this process. Whoever opens it holds its lock (spool-lock.ts). */
export function openTurnLog({ head = NO_HEAD, ...options }: TurnLogOptions): TurnLog {
  const file = openSpoolFile(options);
  const readFrom = turnReader(file);
  const running = runningCalls();
  const recent = recentRows(RECENT_ROWS);
  const book: TurnBook = { turns: [], turnNumber: 0, lastSeq: 0, dropped: 0 };
  const open = openTurn({ head, book, running, store: turnWriter(file) });
  const follow = follower(book, running, recent);
  const sweep = turnSweeper({ file, book, running, drain: tryDrain, bytesMax: options.bytesMax });

  function write(entries: readonly Entry[]): boolean {
    const draft = draftOf(entries);
    const turn = open.place(draft);
    follow(entries, turn);
    return turn !== open.now() && (draft.isTurn || draft.parked.length > 0);
  }

  function tryDrain(): void {
    try {
      open.drain();
    } catch {
      // The head keeps it, also for whoever takes both over.
    }
  }

  function close(): void {
    tryDrain();
    file.close();
    if (!open.now()) head.remove();
  }

  /** The head is not drained for that: a file that takes no writes must not hold its rows back. */
  function readBack(after: number, rowsMax: number): SettledRow[] {
    const turn = turnAfter(after);
    const rows = turn ? readFrom(turn.n, after, rowsMax) : [];
    return rows.concat(open.settledAfter(after, rowsMax - rows.length));
  }

  const turnAfter = (seq: number) => book.turns.find((turn) => turn.lastSeq > seq);
  const oldestAt = (after: number) => {
    const turn = turnAfter(after) ?? open.now();
    return turn && turn.lastSeq > after ? turn.at : null;
  };
  const isEmpty = () =>
    book.turns.concat(open.now() ?? []).every((turn) => isDone(turn, book.dropped)) &&
    file.parkedCount() === 0;

  return {
    parkedCount: file.parkedCount,
    usedBytes: () => file.usedBytes() + (open.now()?.size ?? 0),
    close,
    destroy: async () => {
      await file.destroy();
      head.remove();
    },
    write,
    drain: open.drain,
    waiting: open.waiting,
    settledAfter: (after, rowsMax) => recent.after(after, rowsMax) ?? readBack(after, rowsMax),
    sweep,
    oldestAt,
    lastSeq: () => book.lastSeq,
    running: running.count,
    isEmpty,
  };
}

/** Brings memory up to what was written: only that can have happened. */
function follower(
  book: TurnBook,
  running: ReturnType<typeof runningCalls>,
  recent: RecentRows,
): (entries: readonly Entry[], turn: Turn) => void {
  return (entries, turn) => {
    for (const entry of entries) {
      if (entry.kind === "intent") running.begin(entry.id, turn);
      else if (entry.kind === "settle" || entry.kind === "forget") running.end(entry.id);
      else if (entry.kind === "drop") book.dropped = Math.max(book.dropped, entry.through);
      if (entry.kind === "settle") recent.add(entry.text);
    }
    recent.drop(book.dropped);
  };
}
