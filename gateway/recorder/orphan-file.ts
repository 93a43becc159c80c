import type { Database } from "bun:sqlite";
import type { Source } from "./source.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import type { Keep } from "./statement-keeper.ts";
import { linesOf } from "./turn-lines.ts";

/** The file of a process that died. A call that it never ended is the row that its intent holds, after all others. */
export type OrphanFile = Pick<SpoolFile, "parkedRows" | "parkedCount" | "usedBytes" | "close" | "destroy"> & {
  source: Source;
};

type OrphanOptions = Omit<SpoolFileOptions, "create"> & { now: () => number };

/** Turns that are taken apart in one go: a large file must not hold up the event loop. */
const TURNS = 128;

/** Opens the file, under its lock (spool-lock.ts). */
export function openOrphanFile({ now, ...options }: OrphanOptions): OrphanFile {
  const file = openSpoolFile({ ...options, create: false });
  const { db, keep } = file;
  const turns = takenApart(file);
  const after = keep(
    db.prepare<SettledRow, [number, number]>(
      "SELECT seq, body AS text FROM settled WHERE seq > ? ORDER BY seq LIMIT ?",
    ),
  );
  const oldest = keep(
    db.prepare<{ at: number }, [number]>("SELECT at FROM settled WHERE seq > ? ORDER BY seq LIMIT 1"),
  );
  const remove = keep(db.prepare("DELETE FROM settled WHERE seq <= ?"));
  let cursor = 0;
  let gone = 0;
  /** A file that takes no more writes is still read to its end; what is written twice is stored once. */
  const trying = (write: () => void) => {
    try {
      file.transaction(write);
    } catch {}
  };
  const backlog = () => turns.rows() - gone + turns.left();
  turns.next(now());

  const source: Source = {
    take: (rowsMax) => {
      while (turns.left() > 0 && turns.rows() - gone < rowsMax) turns.next(now());
      return after.all(cursor, rowsMax);
    },
    drop: (rows) => {
      cursor = rows.at(-1)?.seq ?? cursor;
      gone += rows.length;
      trying(() => remove.run(cursor));
    },
    park: ({ text }, code) => trying(() => file.park({ text, code, at: now() })),
    mark: () => () => backlog() === 0,
    oldestAt: () => oldest.get(cursor)?.at ?? null,
    backlog,
  };
  return { ...file, source };
}

type Turn = { n: number; at: number; body: string };

/**
 * Takes turns apart into the rows of `settled`, and, once there is none left, the intents that no turn ended. Files that
 * earlier versions left have no turns, but both tables.
 */
function takenApart({ db, keep, transaction }: SpoolFile) {
  db.run("CREATE TABLE IF NOT EXISTS intents (n INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL)");
  db.run(
    "CREATE TABLE IF NOT EXISTS settled (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)",
  );
  db.run("CREATE INDEX IF NOT EXISTS intents_id ON intents (id)");
  const turns = keep(db.prepare<Turn, [number]>("SELECT n, at, body FROM turns ORDER BY n LIMIT ?"));
  const removeTurn = keep(db.prepare("DELETE FROM turns WHERE n = ?"));
  const begin = keep(db.prepare("INSERT INTO intents (id, body) VALUES (?, ?)"));
  const end = keep(db.prepare("DELETE FROM intents WHERE id = ?"));
  const settle = keep(db.prepare("INSERT INTO settled (seq, at, body) VALUES (?, ?, ?)"));
  const settleRest = keep(
    db.prepare(
      "INSERT INTO settled (seq, at, body) SELECT ? + row_number() OVER (ORDER BY id), ?, body FROM intents",
    ),
  );
  const endAll = keep(db.prepare("DELETE FROM intents"));
  let lastSeq = numberIn(db, keep, "SELECT coalesce(max(seq), 0) AS n FROM settled");
  let rows = numberIn(db, keep, "SELECT count(*) AS n FROM settled");
  let left = numberIn(db, keep, "SELECT count(*) AS n FROM turns");

  function apart({ n, at, body }: Turn): void {
    for (const { kind, id, text } of linesOf(body)) {
      end.run(id);
      if (kind === "intent") begin.run(id, text);
      else {
        rows += 1;
        lastSeq += 1;
        settle.run(lastSeq, at, text);
      }
    }
    removeTurn.run(n);
  }

  function next(at: number): void {
    const before = { lastSeq, rows, left };
    try {
      transaction(() => {
        const some = turns.all(TURNS);
        some.forEach(apart);
        left -= some.length;
        if (left > 0) return;
        rows += settleRest.run(lastSeq, at).changes;
        endAll.run();
      });
    } catch (error) {
      ({ lastSeq, rows, left } = before);
      throw error;
    }
  }
  return { next, rows: () => rows, left: () => left };
}

const numberIn = (db: Database, keep: Keep, query: string): number =>
  keep(db.prepare<{ n: number }, []>(query)).get()?.n ?? 0;
