import { draftOf, type Entry } from "./entry.ts";
import type { Synced } from "./head-pool.ts";
import type { Heads } from "./heads.ts";
import { type Drained, openTurns, type Waiting } from "./open-turns.ts";
import { type RecentRows, recentRows } from "./recent-rows.ts";
import { runningCalls } from "./running-calls.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import { turnReader, turnWriter } from "./turn-store.ts";
import { isDone, type Turn, type TurnBook, turnSweeper } from "./turn-sweep.ts";

/**
 * The file that this process writes, and the heads before it. What is recorded in one turn of the event loop, or what
 * is still needed of what a head took, is one row of the file.
 */
export type TurnLog = Pick<SpoolFile, "parkedCount" | "usedBytes" | "close" | "destroy"> & {
  /** All of `entries`, or none; true when the file itself took something. Throws SQLite's error. */
  write(entries: readonly Entry[]): boolean;
  /** Stores what is still needed of the heads in the file; true when that took something. Throws SQLite's error. */
  drain(which?: Drained): boolean;
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

type TurnLogOptions = SpoolFileOptions & {
  heads?: Heads;
  /** By itself at once. */
  synced?: Synced;
};

/** Opens or makes the own file of this process. Whoever opens it holds its lock (spool-lock.ts). */
export function openTurnLog({ heads, synced = atOnce, ...options }: TurnLogOptions): TurnLog {
  const file = openSpoolFile(options);
  const readFrom = turnReader(file);
  const running = runningCalls();
  const recent = recentRows(RECENT_ROWS);
  const book: TurnBook = { turns: [], turnNumber: 0, lastSeq: 0, dropped: 0 };
  const open = openTurns({ heads: heads?.parts ?? [], synced, book, running, store: turnWriter(file) });
  const follow = follower(book, running, recent);
  const sweepFile = turnSweeper({ file, book, running, drain: tryDrain, bytesMax: options.bytesMax });

  function write(entries: readonly Entry[]): boolean {
    const draft = draftOf(entries);
    const turn = open.place(draft);
    follow(entries, turn);
    return (draft.isTurn || draft.parked.length > 0) && !open.now().includes(turn);
  }

  function tryDrain(): void {
    try {
      open.drain("all");
    } catch {
      // The heads keep it, also for whoever takes both over.
    }
  }

  function sweep(): void {
    open.reclaim();
    sweepFile();
  }

  function close(): void {
    tryDrain();
    file.close();
    if (open.now().length === 0) heads?.remove();
  }

  /** The heads are not drained for that: a file that takes no writes must not hold their rows back. */
  function readBack(after: number, rowsMax: number): SettledRow[] {
    const turn = turnAfter(after);
    const rows = turn ? readFrom(turn.n, after, rowsMax) : [];
    return rows.concat(open.settledAfter(after, rowsMax - rows.length));
  }

  const turnAfter = (seq: number) => book.turns.find((turn) => turn.lastSeq > seq);
  const oldestAt = (after: number) => {
    return (turnAfter(after) ?? open.now().find((turn) => turn.lastSeq > after))?.at ?? null;
  };
  const isEmpty = () =>
    book.turns.concat(open.now()).every((turn) => isDone(turn, book.dropped)) && file.parkedCount() === 0;

  return {
    parkedCount: file.parkedCount,
    usedBytes: () => open.now().reduce((sum, { size }) => sum + size, file.usedBytes()),
    close,
    destroy: async () => {
      await file.destroy();
      heads?.remove();
    },
    write,
    drain: (which = "all") => open.drain(which),
    waiting: open.waiting,
    settledAfter: (after, rowsMax) => recent.after(after, rowsMax) ?? readBack(after, rowsMax),
    sweep,
    oldestAt,
    lastSeq: () => book.lastSeq,
    running: running.count,
    isEmpty,
  };
}

const atOnce = (then: () => void) => then();

/** Brings memory up to what was written: only that can have happened. */
function follower(
  book: TurnBook,
  running: ReturnType<typeof runningCalls>,
  recent: RecentRows,
): (entries: readonly Entry[], turn: Turn) => void {
  return (entries, turn) => {
    for (const entry of entries) {
      if (entry.kind === "intent") running.begin(entry.id, turn);
      // The row of what is forgotten is in Postgres: what that keeps is kept for a moment only.
      else if (entry.kind === "settle" || entry.kind === "forget") running.end(entry.id, book.lastSeq);
      else if (entry.kind === "drop") book.dropped = Math.max(book.dropped, entry.through);
      if (entry.kind === "settle") recent.add(entry.text);
    }
    recent.drop(book.dropped);
  };
}
