import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, takeLock } from "#shared/file-lock.ts";
import { newId } from "#shared/ids.ts";
import { type Mark, markPathOf, openMark } from "./mark-file.ts";
import type { Source } from "./postgres-writer.ts";
import { type RunningCalls, runningCalls } from "./running-calls.ts";
import { openSegment, type ParkedRow, type Segment, type SegmentOptions } from "./segment.ts";

/** A change to the own segment. `text` is a record as JSON; `at` is in milliseconds since 1970. */
export type Entry =
  | { kind: "intent"; id: string; text: string }
  /** Ends the intent of the same id, if there is one. */
  | { kind: "settlement"; id: string; text: string; at: number }
  /** Postgres refused the record. */
  | ({ kind: "park" } & ParkedRow)
  /** Changes nothing, but fails when the disk takes no writes. */
  | { kind: "probe" };

/** The segment that this process writes. */
export type OwnSegment = Pick<Segment, "parkedCount" | "usedBytes"> & {
  path: string;
  /** Commits all of `entries`, or none. Throws SQLite's error. */
  write(entries: readonly Entry[]): void;
  /** The record of this call reached Postgres without passing the file: its intent can go. */
  forget(id: string): void;
  /** Settlements that wait for Postgres. What `drop` gets is deleted by the next `sweep`. */
  pending: Pick<Source, "take" | "drop" | "mark" | "oldestAt" | "backlog">;
  /** Deletes what Postgres has. Throws SQLite's error. */
  sweep(): void;
  /** Calls with an intent and no settlement. */
  running(): number;
  isRunning(id: string): boolean;
  runningIds(): string[];
  /** Closes the file, and deletes it when it holds nothing. */
  leave(): Promise<void>;
};

/** A segment that could not be read any more. `running`: its calls that were under way. */
export type AbandonedSegment = { stem: string; lock: FileLock; running: string[] };

export type OwnSegmentOptions = Pick<SegmentOptions, "sync" | "bytesMax"> & { directory: string };

/** The flush worker copies the log far sooner, and off the event loop. */
const CHECKPOINT_PAGES = 65_536;

/**
 * Makes a segment of this process. `earlier`: calls under way whose intents are in an abandoned one.
 * @throws Error that names the directory and the remedy.
 */
export function createOwnSegment(
  options: OwnSegmentOptions,
  earlier: readonly string[] = [],
): OwnSegment & { abandon(): AbandonedSegment } {
  try {
    return lockedSegment(options, earlier);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The spool in ${options.directory} cannot be written: ${why}. Make room there, or set SPOOL_DIR.`,
      { cause: error },
    );
  }
}

/** Takes the lock before the file exists: others adopt every segment that is not locked. */
function lockedSegment({ directory, sync, bytesMax }: OwnSegmentOptions, earlier: readonly string[]) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stem = join(directory, `segment-${newId()}`);
  const path = `${stem}.db`;
  const lock = takeLock(`${stem}.lock`);
  if (!lock) throw new Error("the lock of a new segment is taken");
  const unlock = () => {
    rmSync(`${stem}.lock`, { force: true });
    lock.release();
  };
  try {
    const segment = openSegment({ path, sync, bytesMax, checkpointPages: CHECKPOINT_PAGES, create: true });
    const mark = openMark(path);
    const own = ownRows(segment, mark.write, earlier);
    return {
      ...own,
      path,
      async leave() {
        mark.close();
        if (own.isEmpty()) {
          await segment.destroy();
          unlock();
        } else {
          segment.close();
          lock.release();
        }
      },
      abandon() {
        mark.close();
        try {
          segment.close();
        } catch {
          // Its content is read without SQLite from here on.
        }
        return { stem, lock, running: own.runningIds() };
      },
    };
  } catch (error) {
    for (const file of [path, `${path}-wal`, `${path}-shm`, markPathOf(path)]) rmSync(file, { force: true });
    unlock();
    throw error;
  }
}

/** Numbers the rows of a new, empty segment, and remembers which of them are still needed. */
export function ownRows(segment: Segment, writeMark: (mark: Mark) => void, earlier: readonly string[]) {
  const running = runningCalls(earlier);
  let sent = 0;
  const mark = (settled: number): Mark => ({
    settled,
    sent,
    running: running.inFile(),
    firstRunning: running.first(),
  });
  const { write, last } = segmentWriter(segment, running, (settled) => {
    try {
      writeMark(mark(settled));
    } catch {
      // The entries are committed; the next mark counts them.
    }
  });
  let swept = 0;
  let forgotten: number[] = [];

  function sweep(): void {
    if (sent === swept && forgotten.length === 0) return;
    // Before the rows go: a mark that is behind would make them look lost.
    writeMark(mark(last()));
    segment.transaction(() => {
      segment.removeSettlements(sent);
      forgotten.forEach(segment.removeIntent);
    });
    swept = sent;
    forgotten = [];
  }

  const pending: OwnSegment["pending"] = {
    take: (rowsMax) => segment.settlementsAfter(sent, rowsMax),
    drop: (rows) => {
      sent = rows.at(-1)?.seq ?? sent;
    },
    mark: () => {
      const through = last();
      return () => sent >= through;
    },
    oldestAt: () => segment.settledAtAfter(sent),
    backlog: () => last() - sent,
  };

  return {
    write,
    forget(id: string): void {
      const intent = running.end(id);
      if (intent !== undefined) forgotten.push(intent);
    },
    pending,
    sweep,
    running: running.count,
    isRunning: running.has,
    runningIds: running.ids,
    isEmpty: () => running.count() === 0 && pending.backlog() === 0 && segment.parkedCount() === 0,
    parkedCount: segment.parkedCount,
    usedBytes: segment.usedBytes,
  };
}

/** `committed` is called with the number of the last settlement. */
function segmentWriter(segment: Segment, running: RunningCalls, committed: (settled: number) => void) {
  let last = { intent: 0, settlement: 0 };

  function write(entries: readonly Entry[]): void {
    const next = { ...last };
    const begun = new Map<string, number>();
    const writeEntry = (entry: Entry): void => {
      if (entry.kind === "intent") {
        next.intent += 1;
        begun.set(entry.id, next.intent);
        segment.addIntent(next.intent, entry.text);
      } else if (entry.kind === "settlement") {
        next.settlement += 1;
        segment.addSettlement({ seq: next.settlement, text: entry.text }, entry.at);
        const intent = begun.get(entry.id) ?? running.seqOf(entry.id);
        if (intent !== undefined) segment.removeIntent(intent);
      } else if (entry.kind === "park") {
        segment.park(entry);
      } else {
        segment.addIntent(next.intent + 1, "");
        segment.removeIntent(next.intent + 1);
      }
    };
    segment.transaction(() => entries.forEach(writeEntry));
    // Memory follows only what was committed.
    last = next;
    for (const [id, seq] of begun) running.begin(id, seq);
    for (const entry of entries) if (entry.kind === "settlement") running.end(entry.id);
    committed(last.settlement);
  }

  return { write, last: () => last.settlement };
}
