import { draftOf, type Entry } from "./entry.ts";
import { recentRows } from "./recent-rows.ts";
import { runningCalls } from "./running-calls.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import { lineOf, linesOf } from "./turn-lines.ts";
import { turnReader, turnWriter } from "./turn-store.ts";

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

/**
 * A turn in the file: the number of the last row settled in it or before, and how many of the calls opened in it run.
 * When none runs and its rows are in Postgres, it may go. Until then its other lines stay, too: read from a dead
 * process's file and stored once more, they change nothing.
 */
type Turn = { n: number; at: number; lastSeq: number; running: number; size: number; carried: boolean };

/**
 * Long calls would keep everything that passed beside them: where such turns take more than this share of the cap, the
 * intents of calls that run are carried over into a new turn, so many turns at once.
 */
const KEPT_SHARE = 1 / 8;
const CARRIED_TURNS = 64;

/** Rows kept in memory: what some batches take, and a few megabytes. */
const RECENT_ROWS = 2000;

/** Opens or makes the own file of this process. Whoever opens it holds its lock (spool-lock.ts). */
export function openTurnLog(options: SpoolFileOptions): TurnLog {
  const file = openSpoolFile(options);
  const { db, keep } = file;
  const store = turnWriter(file);
  const remove = keep(db.prepare("DELETE FROM turns WHERE n = ?"));
  const bodyOf = keep(db.prepare<{ body: string }, [number]>("SELECT body FROM turns WHERE n = ?"));
  const insert = keep(db.prepare("INSERT INTO turns (n, at, before, body) VALUES (?, 0, ?, ?)"));
  const readFrom = turnReader(file);
  const running = runningCalls();
  const recent = recentRows(RECENT_ROWS);
  let turns: Turn[] = [];
  let turnNumber = 0;
  let lastSeq = 0;
  let dropped = 0;

  const isDone = (turn: Turn) => turn.running === 0 && turn.lastSeq <= dropped;

  /** Only what is written can have happened: memory follows the file. */
  function follow(entries: readonly Entry[], turn: Turn): void {
    for (const entry of entries) {
      if (entry.kind === "intent") running.begin(entry.id, turn);
      else if (entry.kind === "settle" || entry.kind === "forget") running.end(entry.id);
      else if (entry.kind === "drop") dropped = Math.max(dropped, entry.through);
      if (entry.kind === "settle") recent.add(entry.text);
    }
  }

  function write(entries: readonly Entry[]): void {
    const draft = draftOf(entries);
    const turn = {
      n: turnNumber + 1,
      at: draft.at,
      lastSeq: lastSeq + draft.settled,
      running: 0,
      size: draft.body.length,
      carried: false,
    };
    store(turn.n, lastSeq, draft);
    if (draft.isTurn) {
      turns.push(turn);
      turnNumber = turn.n;
      lastSeq = turn.lastSeq;
    }
    follow(entries, turn);
    recent.drop(dropped);
  }

  /** The intents of calls of `turn` that run. */
  const runningIn = (turn: Turn) =>
    linesOf(bodyOf.get(turn.n)?.body ?? "").filter(
      ({ kind, id }) => kind === "intent" && running.isAt(id, turn),
    );

  function carryOver(): void {
    const kept = turns.filter((turn) => turn.lastSeq <= dropped && !turn.carried);
    if (kept.reduce((sum, { size }) => sum + size, 0) <= options.bytesMax * KEPT_SHARE) return;
    const old = kept.slice(0, CARRIED_TURNS);
    const intents = old.flatMap(runningIn);
    const body = intents.map(({ id, text }) => lineOf("intent", id, text)).join("");
    const next = { n: turnNumber + 1, at: 0, lastSeq, running: 0, size: body.length, carried: true };
    file.transaction(() => {
      for (const { n } of old) remove.run(n);
      insert.run(next.n, lastSeq, body);
    });
    turnNumber = next.n;
    for (const { id } of intents) running.begin(id, next);
    const gone = new Set(old);
    turns = turns.filter((turn) => !gone.has(turn));
    turns.push(next);
  }

  function removeDone(): void {
    const done = turns.filter(isDone);
    if (done.length === 0) return;
    file.transaction(() => {
      for (const { n } of done) remove.run(n);
    });
    turns = turns.filter((turn) => !isDone(turn));
  }

  const turnAfter = (seq: number) => turns.find((turn) => turn.lastSeq > seq);

  return {
    ...file,
    write,
    settledAfter: (after, rowsMax) => {
      const rows = recent.after(after, rowsMax);
      if (rows) return rows;
      const turn = turnAfter(after);
      return turn ? readFrom(turn.n, after, rowsMax) : [];
    },
    sweep: () => {
      removeDone();
      carryOver();
    },
    oldestAt: (after) => turnAfter(after)?.at ?? null,
    lastSeq: () => lastSeq,
    running: running.count,
    isEmpty: () => turns.every(isDone) && file.parkedCount() === 0,
  };
}
