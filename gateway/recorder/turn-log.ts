import {
  openSpoolFile,
  type ParkedRow,
  type SettledRow,
  type SpoolFile,
  type SpoolFileOptions,
} from "./spool-file.ts";
import { lineOf, settledIn } from "./turn-lines.ts";

/** One change to the own file. `text` is a row of `requests` as JSON; `at` is in milliseconds since 1970. */
export type Entry =
  | { kind: "intent"; id: string; text: string }
  /** Ends the intent of the same id, if there is one. */
  | { kind: "settle"; id: string; text: string; at: number }
  /** Ends an intent whose row went to Postgres without passing this file. */
  | { kind: "forget"; id: string }
  /** The settled rows up to and with this number are in Postgres. */
  | { kind: "drop"; through: number }
  /** Postgres refused the row for its data. */
  | ({ kind: "park" } & ParkedRow)
  /** Changes nothing; tells whether the disk takes writes. */
  | { kind: "probe" };

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
type Turn = { n: number; at: number; lastSeq: number; running: number };

/**
 * A Map that lives long keeps what passed through it until a full garbage collection (upstream/watchdog.ts): it is made
 * anew after so many calls.
 */
const RENEWED_EVERY = 512;

/** Turns that are read at once. */
const READ_TURNS = 64;

/** Opens or makes the own file of this process. Whoever opens it holds its lock (spool-lock.ts). */
export function openTurnLog(options: SpoolFileOptions): TurnLog {
  const file = openSpoolFile(options);
  const { db, keep } = file;
  const insert = keep(db.prepare("INSERT INTO turns (n, at, before, body) VALUES (?, ?, ?, ?)"));
  const remove = keep(db.prepare("DELETE FROM turns WHERE n = ?"));
  const readFrom = turnReader(file);
  const running = runningCalls();
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
    }
  }

  function write(entries: readonly Entry[]): void {
    const { body, settled, at, parked, isProbe } = turnOf(entries);
    const turn = { n: turnNumber + 1, at, lastSeq: lastSeq + settled, running: 0 };
    const isStored = body !== "" || isProbe;
    const store = () => {
      if (isStored) insert.run(turn.n, at, lastSeq, body);
    };
    if (parked.length === 0) store();
    else
      file.transaction(() => {
        store();
        parked.forEach(file.park);
      });
    if (isStored) {
      turns.push(turn);
      turnNumber = turn.n;
      lastSeq = turn.lastSeq;
    }
    follow(entries, turn);
  }

  const turnAfter = (seq: number) => turns.find((turn) => turn.lastSeq > seq);

  return {
    ...file,
    write,
    settledAfter: (after, rowsMax) => {
      const turn = turnAfter(after);
      return turn ? readFrom(turn.n, after, rowsMax) : [];
    },
    sweep: () => {
      const done = turns.filter(isDone);
      if (done.length === 0) return;
      file.transaction(() => {
        for (const { n } of done) remove.run(n);
      });
      turns = turns.filter((turn) => !isDone(turn));
    },
    oldestAt: (after) => turnAfter(after)?.at ?? null,
    lastSeq: () => lastSeq,
    running: running.count,
    isEmpty: () => turns.every(isDone) && file.parkedCount() === 0,
  };
}

/** Reads at most `rowsMax` rows with a number over `after`, from the turn `first` on. */
function turnReader({ db, keep }: SpoolFile) {
  const from = keep(
    db.prepare<StoredTurn, [number, number]>(
      "SELECT n, before, body FROM turns WHERE n >= ? ORDER BY n LIMIT ?",
    ),
  );
  return (first: number, after: number, rowsMax: number): SettledRow[] => {
    const rows: SettledRow[] = [];
    for (let next = first; rows.length < rowsMax; ) {
      const turns = from.all(next, READ_TURNS);
      rows.push(...turns.flatMap(rowsOf).filter(({ seq }) => seq > after));
      if (turns.length < READ_TURNS) break;
      next = (turns.at(-1)?.n ?? next) + 1;
    }
    return rows.slice(0, rowsMax);
  };
}

/** `before`: how many rows had been settled before the turn. */
type StoredTurn = { n: number; before: number; body: string };

const rowsOf = ({ before, body }: StoredTurn): SettledRow[] =>
  settledIn(body).map((text, index) => ({ seq: before + index + 1, text }));

function turnOf(entries: readonly Entry[]) {
  let body = "";
  let settled = 0;
  let at = 0;
  let isProbe = false;
  const parked: ParkedRow[] = [];
  for (const entry of entries) {
    if (entry.kind === "intent") {
      body += lineOf("intent", entry.id, entry.text);
    } else if (entry.kind === "settle") {
      body += lineOf("settle", entry.id, entry.text);
      settled += 1;
      at ||= entry.at;
    } else if (entry.kind === "park") parked.push(entry);
    else if (entry.kind === "probe") isProbe = true;
  }
  return { body, settled, at, parked, isProbe };
}

/** Which turn has the intent of a call that runs. */
function runningCalls() {
  let turnOfCall = new Map<string, Turn>();
  let ended = 0;
  return {
    begin(id: string, turn: Turn): void {
      turn.running += 1;
      turnOfCall.set(id, turn);
    },
    end(id: string): void {
      const turn = turnOfCall.get(id);
      if (turn === undefined) return;
      turn.running -= 1;
      turnOfCall.delete(id);
      ended += 1;
      if (ended % RENEWED_EVERY === 0) turnOfCall = new Map(turnOfCall);
    },
    count: () => turnOfCall.size,
  };
}
