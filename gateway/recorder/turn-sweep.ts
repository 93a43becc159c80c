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
  /**
   * A row with at least the number of every end of its calls, wherever that end lies. What is in the heads a power cut
   * may take: it must not find the beginning of a call gone and its end nowhere.
   */
  endsSeq: number;
  size: number;
  /** Only intents are left in it. */
  isCut: boolean;
};

/**
 * Long calls would keep everything that passed beside them: where such turns take more than this share of the cap, they
 * are cut down to the intents of calls that run, so many turns and about so many characters at once.
 */
const KEPT_SHARE = 1 / 8;
const CUT_TURNS = 64;
const CUT_SIZE = 512 * 1024;

/** What a turn log remembers of its file: the turns in it, and the rows up to and with `dropped` are in Postgres. */
export type TurnBook = { turns: Turn[]; turnNumber: number; lastSeq: number; dropped: number };

export const isDone = ({ running, lastSeq, endsSeq }: Turn, dropped: number) =>
  running === 0 && Math.max(lastSeq, endsSeq) <= dropped;

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
  /**
   * Stores what the heads hold, if the file takes it: a power cut could else find the intent of a call gone and its end
   * in a head alone. A full file has to be swept all the same. Does not throw.
   */
  drain(): void;
  bytesMax: number;
};

/** The first of `turns`: as many as are read in a moment. */
function firstOf(turns: readonly Turn[]): Turn[] {
  let size = 0;
  return turns.slice(0, CUT_TURNS).filter((turn, index) => {
    size += turn.size;
    return index === 0 || size <= CUT_SIZE;
  });
}

/** Deletes what nobody needs any more. Throws SQLite's error, and then nothing is changed that was not written. */
export function turnSweeper({ file, book, running, drain, bytesMax }: SweepParts): () => void {
  const { db, keep } = file;
  const remove = keep(db.prepare("DELETE FROM turns WHERE n = ?"));
  const bodyOf = keep(db.prepare<{ body: string }, [number]>("SELECT body FROM turns WHERE n = ?"));
  const replace = keep(db.prepare("UPDATE turns SET before = ?, body = ? WHERE n = ?"));

  /** The intents of calls of `turn` that run. */
  const runningIn = (turn: Turn): string =>
    linesOf(bodyOf.get(turn.n)?.body ?? "")
      .filter(({ kind, id }) => kind === "intent" && running.isAt(id, turn))
      .map(({ id, text }) => lineOf("intent", id, text))
      .join("");

  function cut(): void {
    const kept = droppedTurns(book).filter(({ isCut }) => !isCut);
    if (kept.reduce((sum, { size }) => sum + size, 0) <= bytesMax * KEPT_SHARE) return;
    drain();
    const left = firstOf(kept).map((turn) => ({ turn, body: runningIn(turn) }));
    file.transaction(() => {
      for (const { turn, body } of left) replace.run(book.dropped, body, turn.n);
    });
    for (const { turn, body } of left) Object.assign(turn, { size: body.length, isCut: true });
  }

  function removeDone(): void {
    const first = droppedTurns(book);
    const done = first.filter((turn) => isDone(turn, book.dropped));
    if (done.length === 0) return;
    file.transaction(() => {
      for (const { n } of done) remove.run(n);
    });
    const kept = first.filter((turn) => !done.includes(turn));
    book.turns = [...kept, ...book.turns.slice(first.length)];
  }

  return () => {
    removeDone();
    cut();
  };
}
