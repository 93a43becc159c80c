import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { intentWriter } from "./intents.ts";
import { type Keep, statementKeeper } from "./statement-keeper.ts";

/** One change to a spool file. `text` is a row of `requests` as JSON; `at` is in milliseconds since 1970. */
export type Entry =
  | { kind: "intent"; id: string; text: string }
  /** Ends the intent of the same id, if there is one. */
  | { kind: "settle"; id: string; text: string; at: number }
  /** Ends an intent whose row went to Postgres without passing this file. */
  | { kind: "forget"; id: string }
  /** The settled rows up to and with this number are in Postgres. */
  | { kind: "drop"; through: number }
  /** Postgres refused the row for its data. */
  | { kind: "park"; text: string; code: string; at: number }
  /** Changes nothing; tells whether the disk takes writes. */
  | { kind: "probe" };

export type SettledRow = { seq: number; text: string };
/** `code` is the SQLSTATE, `at` in milliseconds since 1970. */
export type ParkedRow = { text: string; code: string; at: number };
/** Calls opened and not ended; rows ended and not yet in Postgres; rows that Postgres refused. */
type SpoolTable = "intents" | "settled" | "dead";

export type SpoolFile = {
  /** All of `entries` in one transaction, or none. Throws SQLite's error. */
  write(entries: readonly Entry[]): void;
  /** The oldest settled rows with a number over `after`, in the order in which they were settled. */
  settledAfter(after: number, rowsMax: number): SettledRow[];
  /** When the oldest settled row with a number over `after` was settled. */
  oldestAt(after: number): number | null;
  /** Number of the newest settled row written through this handle. */
  lastSeq(): number;
  /** Reads the whole table: for small ones, or once. */
  count(table: SpoolTable): number;
  parkedRows(): ParkedRow[];
  /** Turns every intent into a settled row: for the file of a process that died. */
  settleIntents(at: number): void;
  /** Bytes in use, without pages that are free for new rows. */
  usedBytes(): number;
  close(): void;
  /** Closes the file and deletes it. */
  destroy(): void;
};

export type SpoolFileOptions = {
  path: string;
  /** "full" makes a row survive a power failure before `write` returns; "normal" only the death of the process. */
  sync: "normal" | "full";
  bytesMax: number;
  /** False opens only a file that is there, and throws otherwise. */
  create: boolean;
};

/** Newest parked rows that a file keeps. */
const PARKED_MAX = 10_000;

/** A commit writes whole pages, and its entries lie on few of them: small pages make it half as dear (test/bench/spool.ts). */
const PAGE_BYTES = 2048;

/** Above this size of the write-ahead log a commit checkpoints in line; the flush worker keeps it far smaller. */
const WAL_PAGES_MAX = 65_536;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS intents (n INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS settled (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS dead (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code TEXT NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS probe (n INTEGER NOT NULL)",
];

function openDatabase(options: SpoolFileOptions): Database {
  const db = new Database(options.path, { readwrite: true, create: options.create });
  try {
    // No waiting for a lock on the event loop: the flush worker holds it for the time of an fsync.
    db.run("PRAGMA busy_timeout = 0");
    db.run(`PRAGMA page_size = ${PAGE_BYTES}`);
    db.run("PRAGMA auto_vacuum = INCREMENTAL");
    db.run("PRAGMA journal_mode = WAL");
    db.run(`PRAGMA synchronous = ${options.sync === "full" ? "FULL" : "NORMAL"}`);
    db.run(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`);
    db.run("PRAGMA journal_size_limit = 16777216");
    db.run(`PRAGMA max_page_count = ${Math.ceil(options.bytesMax / PAGE_BYTES)}`);
    for (const statement of SCHEMA) db.run(statement);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

type Num<K extends string> = { [key in K]: number };

const numberOf = <K extends string>(row: Num<K> | null, key: K): number => row?.[key] ?? 0;

/** Opens or makes the SQLite file of a spool. Whoever opens it holds its lock (spool-lock.ts). */
export function openSpoolFile(options: SpoolFileOptions): SpoolFile {
  const db = openDatabase(options);
  const { keep, finalizeAll } = statementKeeper();
  const apply = entryWriter(db, keep);
  const begin = keep(db.prepare("BEGIN IMMEDIATE"));
  const commit = keep(db.prepare("COMMIT"));
  const after = keep(
    db.prepare<SettledRow, [number, number]>(
      "SELECT seq, body AS text FROM settled WHERE seq > ? ORDER BY seq LIMIT ?",
    ),
  );
  const oldest = keep(
    db.prepare<{ at: number }, [number]>("SELECT at FROM settled WHERE seq > ? ORDER BY seq LIMIT 1"),
  );
  const pages = keep(db.prepare<Num<"page_count">, []>("PRAGMA page_count"));
  const free = keep(db.prepare<Num<"freelist_count">, []>("PRAGMA freelist_count"));
  const parked = keep(db.prepare<ParkedRow, []>("SELECT body AS text, code, at FROM dead ORDER BY seq"));
  const transaction = (work: () => void) => {
    begin.run();
    const undo = apply.mark();
    try {
      work();
      commit.run();
    } catch (error) {
      undo();
      if (db.inTransaction) db.run("ROLLBACK");
      throw error;
    }
  };

  const close = () => {
    finalizeAll();
    // Throws if something still reads: the file would stay open, and its space taken, until a garbage collection.
    db.close(true);
  };

  return {
    write: (entries) => transaction(() => entries.forEach(apply.entry)),
    settledAfter: (seq, rowsMax) => after.all(seq, rowsMax),
    oldestAt: (seq) => oldest.get(seq)?.at ?? null,
    lastSeq: apply.lastSeq,
    count: (table) => numberOf(db.query<Num<"n">, []>(`SELECT count(*) AS n FROM ${table}`).get(), "n"),
    parkedRows: () => parked.all(),
    settleIntents: (at) =>
      transaction(() => {
        db.run(
          "INSERT INTO settled (seq, at, body) SELECT (SELECT coalesce(max(seq), 0) FROM settled) " +
            "+ row_number() OVER (ORDER BY id), ?, body FROM intents",
          [at],
        );
        db.run("DELETE FROM intents");
      }),
    usedBytes: () =>
      (numberOf(pages.get(), "page_count") - numberOf(free.get(), "freelist_count")) * PAGE_BYTES,
    close,
    destroy: () => {
      close();
      // macOS's own SQLite leaves the companions behind.
      for (const suffix of ["", "-wal", "-shm"]) rmSync(options.path + suffix, { force: true });
    },
  };
}

/** The statements that write entries; each runs inside the caller's transaction. */
function entryWriter(db: Database, keep: Keep) {
  const intents = intentWriter(db, keep);
  const settle = keep(db.prepare("INSERT INTO settled (seq, at, body) VALUES (?, ?, ?)"));
  const drop = keep(db.prepare("DELETE FROM settled WHERE seq <= ?"));
  const park = keep(db.prepare("INSERT INTO dead (at, code, body) VALUES (?, ?, ?)"));
  const prune = keep(db.prepare(`DELETE FROM dead WHERE seq <= (SELECT max(seq) FROM dead) - ${PARKED_MAX}`));
  const probe = keep(db.prepare("INSERT INTO probe (n) VALUES (1)"));
  const unprobe = keep(db.prepare("DELETE FROM probe"));
  // Numbers are never used twice, also not when the table is empty: the writer remembers how far it came.
  let seq =
    keep(db.prepare<{ seq: number }, []>("SELECT coalesce(max(seq), 0) AS seq FROM settled")).get()?.seq ?? 0;

  function entry(change: Entry): void {
    switch (change.kind) {
      case "intent":
        intents.begin(change.id, change.text);
        return;
      case "settle":
        intents.end(change.id);
        seq += 1;
        settle.run(seq, change.at, change.text);
        return;
      case "forget":
        intents.end(change.id);
        return;
      case "drop":
        drop.run(change.through);
        return;
      case "park":
        park.run(change.at, change.code, change.text);
        prune.run();
        return;
      case "probe":
        probe.run();
        unprobe.run();
        return;
    }
  }
  const mark = () => {
    const before = seq;
    const undoIntents = intents.mark();
    return () => {
      seq = before;
      undoIntents();
    };
  };
  return { entry, mark, lastSeq: () => seq };
}
