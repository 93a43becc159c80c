import { existsSync, rmSync } from "node:fs";
import { headPathOf } from "./heads.ts";
import { type Shelf, type StoredEntries, shelvesOf } from "./orphan-shelves.ts";
import { runningCalls } from "./running-calls.ts";
import type { Source } from "./source.ts";
import { openSpoolFile, type SettledRow, type SpoolFile, type SpoolFileOptions } from "./spool-file.ts";
import { linesOf } from "./turn-lines.ts";

/** The file of a process that died. A call that it never ended is the row that its intent holds, after all others. */
export type OrphanFile = Pick<SpoolFile, "parkedRows" | "parkedCount" | "usedBytes" | "close" | "destroy"> & {
  source: Source;
};

type OrphanOptions = Pick<SpoolFileOptions, "path" | "sync"> & { now: () => number };

/** The cap is for what a process writes: its file must not be too full to be taken over after its death. */
const NO_CAP_BYTES = 2 ** 40;
/** No flush worker looks after this file: a commit copies a log of so many pages, which takes some milliseconds. */
const WAL_PAGES = 1000;
/** Rows that are read when the file is opened: of a small file all. */
const FIRST_ROWS = 500;

/** Opens the file and its heads, under their lock (spool-lock.ts). Heads that lost their file get an empty one. */
export function openOrphanFile({ now, ...options }: OrphanOptions): OrphanFile {
  const headPath = headPathOf(options.path);
  const file = openSpoolFile({ ...options, bytesMax: NO_CAP_BYTES, create: existsSync(headPath) });
  try {
    file.db.run(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
    const source = orphanSource(file, shelvesOf(file, headPath), now);
    source.take(FIRST_ROWS);
    const destroy = async () => {
      await file.destroy();
      rmSync(headPath, { force: true });
    };
    return { ...file, source, destroy };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** What was read and not yet deleted: it may go when its rows are in Postgres and none of its calls is open. */
type Place = { shelf: Shelf; n: number; lastSeq: number; running: number };

/** Reads the file from its beginning as rows are asked for, and deletes what Postgres has. */
function orphanSource(file: SpoolFile, shelves: readonly Shelf[], now: () => number): Source {
  const reading = startReading(shelves, now);

  /** A file that takes no more writes is still read to its end; what is written twice is stored once. */
  function trying(write: () => void): boolean {
    try {
      file.transaction(write);
      return true;
    } catch {
      return false;
    }
  }

  return {
    take: reading.upTo,
    drop: (rows) => {
      const done = reading.doneThrough(rows.at(-1)?.seq ?? 0);
      const remove = () => {
        for (const { shelf, n } of done) shelf.remove(n);
      };
      if (done.length > 0 && trying(remove)) reading.forget(done);
    },
    park: ({ text }, code) => void trying(() => file.park({ text, code, at: now() })),
    mark: () => () => reading.backlog() === 0,
    oldestAt: reading.oldestAt,
    backlog: reading.backlog,
  };
}

type WaitingRow = SettledRow & { at: number };

function startReading(shelves: readonly Shelf[], now: () => number) {
  const next = startAt(shelves);
  const settledRows = rowsIn(shelves);
  const running = runningCalls();
  let places: Place[] = [];
  let open: Place[] | null = null;
  let waiting: WaitingRow[] = [];
  let lastSeq = 0;
  let lastAt: number | null = null;
  let finished = false;

  function settle(text: string, at: number): void {
    lastSeq += 1;
    lastAt = at;
    waiting.push({ seq: lastSeq, text, at });
  }

  function read(shelf: Shelf, { n, at, body }: StoredEntries): void {
    const place = { shelf, n, lastSeq, running: 0 };
    for (const { kind, id, text } of linesOf(body)) {
      if (kind === "intent") running.begin(id, place);
      else {
        running.end(id);
        settle(text, at);
      }
    }
    place.lastSeq = lastSeq;
    places.push(place);
  }

  /** The calls of `place` that nothing ended. */
  function settleOpen(place: Place): void {
    for (const { kind, id, text } of linesOf(place.shelf.body(place.n))) {
      if (kind !== "intent" || !running.isAt(id, place)) continue;
      running.end(id);
      settle(text, now());
    }
    Object.assign(place, { running: 0, lastSeq });
  }

  function readOn(): void {
    const entries = next();
    if (entries) read(...entries);
    else {
      open ??= places.filter((place) => place.running > 0).reverse();
      const place = open.at(-1);
      if (place) settleOpen(place);
      else finished = true;
      open.pop();
    }
  }

  return {
    upTo(rowsMax: number): SettledRow[] {
      while (waiting.length < rowsMax && !finished) readOn();
      return waiting.slice(0, rowsMax);
    },
    /** The rows up to and with `seq` are done with: the places that may go now. */
    doneThrough(seq: number): Place[] {
      waiting = waiting.filter((row) => row.seq > seq);
      const first = waiting[0]?.seq ?? lastSeq + 1;
      return places.filter((place) => place.running === 0 && place.lastSeq < first);
    },
    forget(gone: readonly Place[]): void {
      const all = new Set(gone);
      places = places.filter((place) => !all.has(place));
    },
    oldestAt: () => waiting[0]?.at ?? (finished ? null : lastAt),
    /** Near enough while the file is being read; 0 only when nothing is left. */
    backlog: () => waiting.length + (finished ? 0 : Math.max(1, settledRows - lastSeq) + running.count()),
  };
}

const rowsIn = (shelves: readonly Shelf[]): number => shelves.reduce((sum, shelf) => sum + shelf.rows(), 0);

/** What follows in the shelves; null at their end. When reading fails, the next call begins at the same place. */
function startAt(shelves: readonly Shelf[]): () => [Shelf, StoredEntries] | null {
  let at = 0;
  let after = 0;
  return () => {
    for (;;) {
      const shelf = shelves[at];
      if (!shelf) return null;
      const entries = shelf.after(after);
      after = entries?.n ?? 0;
      if (entries) return [shelf, entries];
      at += 1;
    }
  };
}
