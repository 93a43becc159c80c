import { Database } from "bun:sqlite";
import { rm } from "node:fs/promises";
import { type Keep, statementKeeper } from "./statement-keeper.ts";

/** A row that waits for Postgres, as JSON; numbers go up in the order in which rows were settled. */
export type SettledRow = { seq: number; text: string };
/** A row that Postgres refused. `code` is the SQLSTATE, `at` in milliseconds since 1970. */
export type ParkedRow = { text: string; code: string; at: number };

export type SpoolFileOptions = {
  path: string;
  /** "full" makes a row survive a power failure before a write returns; "normal" only the death of the process. */
  sync: "normal" | "full";
  bytesMax: number;
  /** False opens only a file that is there, and throws otherwise. */
  create: boolean;
};

/** The SQLite file of a spool, and what the file of a living process (turn-log.ts) and of a dead one (orphan-file.ts) share. */
export type SpoolFile = {
  db: Database;
  keep: Keep;
  /** All of `work`, or nothing. Throws SQLite's error. */
  transaction(work: () => void): void;
  /** Inside a transaction. */
  park(row: ParkedRow): void;
  parkedRows(): ParkedRow[];
  parkedCount(): number;
  /** Bytes in use, without pages that are free for new rows. */
  usedBytes(): number;
  close(): void;
  /** Closes the file and deletes it: off the event loop, for a gigabyte takes a moment. */
  destroy(): Promise<void>;
};

/** Newest parked rows that a file keeps. */
const PARKED_MAX = 10_000;

/** A commit writes whole pages: small ones leave little room unused at the end of a turn (test/bench/spool.ts). */
const PAGE_BYTES = 2048;

/** Above this size of the write-ahead log a commit checkpoints in line; the flush worker keeps it far smaller. */
const WAL_PAGES_MAX = 65_536;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS turns (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, before INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS dead (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code TEXT NOT NULL, body TEXT NOT NULL)",
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
  const begin = keep(db.prepare("BEGIN IMMEDIATE"));
  const commit = keep(db.prepare("COMMIT"));
  const pages = keep(db.prepare<Num<"page_count">, []>("PRAGMA page_count"));
  const free = keep(db.prepare<Num<"freelist_count">, []>("PRAGMA freelist_count"));
  const park = keep(db.prepare("INSERT INTO dead (at, code, body) VALUES (?, ?, ?)"));
  const prune = keep(db.prepare(`DELETE FROM dead WHERE seq <= (SELECT max(seq) FROM dead) - ${PARKED_MAX}`));
  const parked = keep(db.prepare<ParkedRow, []>("SELECT body AS text, code, at FROM dead ORDER BY seq"));
  const dead = keep(db.prepare<Num<"n">, []>("SELECT count(*) AS n FROM dead"));

  const close = () => {
    finalizeAll();
    // Throws if something still reads: the file would stay open, and its space taken, until a garbage collection.
    db.close(true);
  };

  return {
    db,
    keep,
    transaction: (work) => {
      begin.run();
      try {
        work();
        commit.run();
      } catch (error) {
        if (db.inTransaction) db.run("ROLLBACK");
        throw error;
      }
    },
    park: ({ at, code, text }) => {
      park.run(at, code, text);
      prune.run();
    },
    parkedRows: () => parked.all(),
    parkedCount: () => numberOf(dead.get(), "n"),
    usedBytes: () =>
      (numberOf(pages.get(), "page_count") - numberOf(free.get(), "freelist_count")) * PAGE_BYTES,
    close,
    destroy: async () => {
      // The log is copied into the file once more on closing: what is deleted next need not be brought to the disk.
      db.run("PRAGMA synchronous = OFF");
      close();
      // macOS's own SQLite leaves the companions behind.
      for (const suffix of ["", "-wal", "-shm"]) await rm(options.path + suffix, { force: true });
    },
  };
}
