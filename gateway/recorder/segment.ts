import { Database } from "bun:sqlite";
import { rm } from "node:fs/promises";
import { markPathOf } from "./mark-file.ts";
import { checkDense, checkSums, DamagedSegment, rowSum } from "./row-sum.ts";

/** A finished record that waits for Postgres, as JSON. Numbers are dense and ascend in the order of settlement. */
export type Settlement = { seq: number; text: string };
/** A record that Postgres refused. `code` is the SQLSTATE, `at` in milliseconds since 1970. */
export type ParkedRow = { text: string; code: string; at: number };

export type SegmentOptions = {
  path: string;
  /** "full" makes a commit survive a power failure before it returns; "normal" only the death of the process. */
  sync: "normal" | "full";
  bytesMax: number;
  /** Size of the write-ahead log at which a commit copies it into the file, which takes some milliseconds. */
  checkpointPages: number;
  /** False opens only an existing file, and throws otherwise. */
  create: boolean;
};

export type Segment = ReturnType<typeof openSegment>;

/** A dead process's segment must be readable even when full, and no flush worker serves it. */
export const OF_THE_DEAD = { sync: "normal", bytesMax: 2 ** 40, checkpointPages: 1000 } as const;

/** Newest parked rows that a file keeps. */
const PARKED_MAX = 10_000;
/** A commit writes whole pages: of 1 to 8 KiB this size took the least time at two to eight records a commit. */
export const PAGE_BYTES = 2048;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS intents (seq INTEGER PRIMARY KEY, body TEXT NOT NULL, sum INTEGER)",
  "CREATE TABLE IF NOT EXISTS settlements (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL, sum INTEGER)",
  "CREATE TABLE IF NOT EXISTS parked (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code TEXT NOT NULL, body TEXT NOT NULL)",
];
/** Tables whose rows have sums; those of files of before 0.3 get the column when they are opened. */
const SUMMED = ["intents", "settlements"];

/**
 * Opens or makes a SQLite file of the spool: the records that one process wrote. The caller holds its lock (`takeLock`).
 * Every call throws SQLite's error, and then nothing has changed. Writes belong inside `transaction`. Reading settlements
 * and intents throws `DamagedSegment` when they are not what was written.
 */
export function openSegment(options: SegmentOptions) {
  const db = openDatabase(options);
  const sql = statements(db);
  const pages = sql.one("SELECT page_count AS n FROM pragma_page_count");
  const freePages = sql.one("SELECT freelist_count AS n FROM pragma_freelist_count");

  const close = () => {
    sql.finalize();
    // Throws if something still reads: the file would stay open, and its space taken, until a garbage collection.
    db.close(true);
  };

  return {
    ...intentTable(sql),
    ...settlementTable(sql),
    ...parkedTable(sql),
    transaction: transactions(db, sql),
    /** Bytes in use, without pages that are free for new rows. */
    usedBytes: () => ((pages() ?? 0) - (freePages() ?? 0)) * PAGE_BYTES,
    close,
    /** Closes the file and deletes it off the event loop: a gigabyte takes a moment. */
    async destroy(): Promise<void> {
      // Closing copies the log into the file once more: what is deleted next need not reach the disk.
      db.run("PRAGMA synchronous = OFF");
      close();
      // First: it must not outlive the segment that it speaks for.
      await rm(markPathOf(options.path), { force: true });
      // macOS's own SQLite leaves the companions behind.
      for (const suffix of ["", "-wal", "-shm"]) await rm(options.path + suffix, { force: true });
    },
  };
}

const selectAfter = (table: string) =>
  `SELECT seq, body AS text, sum FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`;

type SummedRow = Settlement & { sum: number | null };

/** The rows without their sums, once these have been checked. */
function checked(rows: SummedRow[]): Settlement[] {
  checkSums(rows);
  return rows.map(({ seq, text }) => ({ seq, text }));
}

function intentTable(sql: Statements) {
  const add = sql.write("INSERT INTO intents (seq, body, sum) VALUES (?, ?, ?)");
  const remove = sql.write("DELETE FROM intents WHERE seq = ?");
  const removeThrough = sql.write("DELETE FROM intents WHERE seq <= ?");
  const after = sql.read<SummedRow>(selectAfter("intents"));
  const count = sql.one("SELECT count(*) AS n FROM intents");
  return {
    /** The record of a call that is about to start, as it is to be stored if the process dies. */
    addIntent: (seq: number, text: string): void => void add.run(seq, text, rowSum({ seq, text })),
    removeIntent: (seq: number): void => void remove.run(seq),
    removeIntents: (through: number): void => void removeThrough.run(through),
    intentsAfter: (seq: number, rowsMax: number) => checked(after.all(seq, rowsMax)),
    intentCount: () => count() ?? 0,
  };
}

function settlementTable(sql: Statements) {
  const add = sql.write("INSERT INTO settlements (seq, at, body, sum) VALUES (?, ?, ?, ?)");
  const removeThrough = sql.write("DELETE FROM settlements WHERE seq <= ?");
  const after = sql.read<SummedRow>(selectAfter("settlements"));
  const first = sql.one("SELECT min(seq) AS n FROM settlements");
  const last = sql.one("SELECT max(seq) AS n FROM settlements");
  return {
    addSettlement: ({ seq, text }: Settlement, at: number): void =>
      void add.run(seq, at, text, rowSum({ seq, text })),
    removeSettlements: (through: number): void => void removeThrough.run(through),
    settlementsAfter: (seq: number, rowsMax: number) => {
      const rows = after.all(seq, rowsMax);
      checkDense(rows, seq);
      if (rows.length === 0 && seq < (last() ?? 0)) throw new DamagedSegment("settlements are missing");
      return checked(rows);
    },
    /** When the first settlement after a number was settled, in milliseconds since 1970. */
    settledAtAfter: sql.one("SELECT at AS n FROM settlements WHERE seq > ? ORDER BY seq LIMIT 1"),
    /** The numbers of the first and the last settlement; zeros when there is none. */
    settlementRange: () => ({ first: first() ?? 0, last: last() ?? 0 }),
  };
}

function parkedTable(sql: Statements) {
  const add = sql.write("INSERT INTO parked (at, code, body) VALUES (?, ?, ?)");
  const prune = sql.write(`DELETE FROM parked WHERE seq <= (SELECT max(seq) FROM parked) - ${PARKED_MAX}`);
  const all = sql.read<ParkedRow>("SELECT body AS text, code, at FROM parked ORDER BY seq");
  const count = sql.one("SELECT count(*) AS n FROM parked");
  return {
    park: ({ at, code, text }: ParkedRow): void => {
      add.run(at, code, text);
      prune.run();
    },
    parkedRows: () => all.all(),
    parkedCount: () => count() ?? 0,
  };
}

function transactions(db: Database, sql: Statements): (work: () => void) => void {
  const begin = sql.write("BEGIN IMMEDIATE");
  const commit = sql.write("COMMIT");
  return (work) => {
    begin.run();
    try {
      work();
      commit.run();
    } catch (error) {
      if (db.inTransaction) db.run("ROLLBACK");
      throw error;
    }
  };
}

type Statements = ReturnType<typeof statements>;

/** Prepares statements, and finalizes all of them: SQLite keeps a file open while one of its statements lives. */
function statements(db: Database) {
  const prepared: { finalize(): void }[] = [];
  function read<Row>(text: string) {
    const statement = db.prepare<Row, number[]>(text);
    prepared.push(statement);
    return statement;
  }
  return {
    read,
    write(text: string) {
      const statement = db.prepare<unknown, (string | number)[]>(text);
      prepared.push(statement);
      return statement;
    },
    /** A statement that returns at most one row with one number, called n. */
    one(text: string) {
      const statement = read<{ n: number | null }>(text);
      return (...values: number[]) => statement.get(...values)?.n ?? null;
    },
    finalize() {
      for (const statement of prepared) statement.finalize();
    },
  };
}

function openDatabase(options: SegmentOptions): Database {
  const db = new Database(options.path, { readwrite: true, create: options.create });
  try {
    // No waiting for a lock on the event loop: the flush worker holds it for the time of an fsync.
    db.run("PRAGMA busy_timeout = 0");
    db.run(`PRAGMA page_size = ${PAGE_BYTES}`);
    db.run("PRAGMA auto_vacuum = INCREMENTAL");
    db.run("PRAGMA journal_mode = WAL");
    db.run(`PRAGMA synchronous = ${options.sync === "full" ? "FULL" : "NORMAL"}`);
    db.run(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`);
    db.run("PRAGMA journal_size_limit = 16777216");
    db.run(`PRAGMA max_page_count = ${Math.ceil(options.bytesMax / PAGE_BYTES)}`);
    for (const statement of SCHEMA) db.run(statement);
    for (const table of SUMMED) addSums(db, table);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

function addSums(db: Database, table: string): void {
  const statement = db.prepare<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`);
  const hasSums = statement.all().some(({ name }) => name === "sum");
  statement.finalize();
  if (!hasSums) db.run(`ALTER TABLE ${table} ADD COLUMN sum INTEGER`);
}
