import type { runningCalls } from "./running-calls.ts";
import type { SpoolFile } from "./spool-file.ts";
import { lineOf, linesOf } from "./turn-lines.ts";

/**
 * A turn in the file: the number of the last row settled in it or before, and how many of the calls opened in it run.
 * When none runs and its rows are in Postgres, it may go. Until then its other lines stay, too: read from a dead
 * process's file and stored once more, they change nothing.
 */
export type Turn = {
  n: number;
  at: number;
  lastSeq: number;
  running: number;
  size: number;
  carried: boolean;
};

/**
 * Long calls would keep everything that passed beside them: where such turns take more than this share of the cap, the
 * intents of calls that run are carried over into a new turn, so many turns and about so many characters at once.
 */
const KEPT_SHARE = 1 / 8;
const CARRIED_TURNS = 64;
const CARRIED_SIZE = 512 * 1024;

/** What a turn log remembers of its file: the turns in it, and the rows up to and with `dropped` are in Postgres. */
export type TurnBook = { turns: Turn[]; turnNumber: number; lastSeq: number; dropped: number };

export const isDone = (turn: Turn, dropped: number) => turn.running === 0 && turn.lastSeq <= dropped;

/**
 * The turns of which Postgres has every row. They come first, so those that wait, of which there may be a million while
 * Postgres is away, are not looked at.
 */
function droppedTurns({ turns, dropped }: TurnBook): Turn[] {
  const waiting = turns.findIndex(({ lastSeq }) => lastSeq > dropped);
  return waiting < 0 ? turns : turns.slice(0, waiting);
}

type SweepParts = {
  file: SpoolFile;
  book: TurnBook;
  running: ReturnType<typeof runningCalls>;
  /** Stores what the head holds, which then comes before what is carried over. */
  drain(): void;
  bytesMax: number;
};

/** The first of `turns`: as many as are read in a moment. */
function firstOf(turns: readonly Turn[]): Turn[] {
  let size = 0;
  return turns.slice(0, CARRIED_TURNS).filter((turn, index) => {
    size += turn.size;
    return index === 0 || size <= CARRIED_SIZE;
  });
}

/** Deletes what nobody needs any more. Throws SQLite's error, and then nothing is changed that was not written. */
export function turnSweeper({ file, book, running, drain, bytesMax }: SweepParts): () => void {
  const { db, keep } = file;
  const remove = keep(db.prepare("DELETE FROM turns WHERE n = ?"));
  const bodyOf = keep(db.prepare<{ body: string }, [number]>("SELECT body FROM turns WHERE n = ?"));
  const insert = keep(db.prepare("INSERT INTO turns (n, at, before, body) VALUES (?, 0, ?, ?)"));

  /** The intents of calls of `turn` that run. */
  const runningIn = (turn: Turn) =>
    linesOf(bodyOf.get(turn.n)?.body ?? "").filter(
      ({ kind, id }) => kind === "intent" && running.isAt(id, turn),
    );

  function carryOver(): void {
    const kept = droppedTurns(book).filter(({ carried }) => !carried);
    if (kept.reduce((sum, { size }) => sum + size, 0) <= bytesMax * KEPT_SHARE) return;
    drain();
    const old = firstOf(kept);
    const intents = old.flatMap(runningIn);
    const body = intents.map(({ id, text }) => lineOf("intent", id, text)).join("");
    const next = {
      n: book.turnNumber + 1,
      at: 0,
      lastSeq: book.lastSeq,
      running: 0,
      size: body.length,
      carried: true,
    };
    file.transaction(() => {
      for (const { n } of old) remove.run(n);
      insert.run(next.n, book.lastSeq, body);
    });
    book.turnNumber = next.n;
    for (const { id } of intents) running.begin(id, next);
    const gone = new Set(old);
    book.turns = book.turns.filter((turn) => !gone.has(turn));
    book.turns.push(next);
  }

  function removeDone(): void {
    const first = droppedTurns(book);
    const kept = first.filter(({ running }) => running > 0);
    if (kept.length === first.length) return;
    file.transaction(() => {
      for (const { n, running } of first) if (running === 0) remove.run(n);
    });
    book.turns = [...kept, ...book.turns.slice(first.length)];
  }

  return () => {
    removeDone();
    carryOver();
  };
}
