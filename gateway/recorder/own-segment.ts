import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newId } from "#shared/ids.ts";
import type { Source } from "./postgres-writer.ts";
import { openSegment, type ParkedRow, type Segment, type SegmentOptions } from "./segment.ts";
import { takeLock } from "./segment-lock.ts";

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
  /** Closes the file, and deletes it when it holds nothing. */
  leave(): Promise<void>;
};

type OwnSegmentOptions = Pick<SegmentOptions, "sync" | "bytesMax"> & { directory: string };

/** The flush worker copies the log far sooner, and off the event loop. */
const CHECKPOINT_PAGES = 65_536;

/** Makes this process's own segment. @throws Error that names the directory and the remedy. */
export function createOwnSegment(options: OwnSegmentOptions): OwnSegment {
  try {
    return lockedSegment(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The spool in ${options.directory} cannot be written: ${why}. Make room there, or set SPOOL_DIR.`,
      { cause: error },
    );
  }
}

/** Takes the lock before the file exists: others adopt every segment that is not locked. */
function lockedSegment({ directory, sync, bytesMax }: OwnSegmentOptions): OwnSegment {
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
    const own = ownSegment(
      openSegment({ path, sync, bytesMax, checkpointPages: CHECKPOINT_PAGES, create: true }),
    );
    return {
      ...own,
      path,
      async leave() {
        if (own.isEmpty()) {
          await own.destroy();
          unlock();
        } else {
          own.close();
          lock.release();
        }
      },
    };
  } catch (error) {
    rmSync(path, { force: true });
    unlock();
    throw error;
  }
}

/** Numbers the rows of a new, empty segment, and remembers which of them are still needed. */
function ownSegment(segment: Segment) {
  const { write, running, last } = segmentWriter(segment);
  let sent = 0;
  let swept = 0;
  let forgotten: number[] = [];

  function sweep(): void {
    if (sent === swept && forgotten.length === 0) return;
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
    isEmpty: () => running.count() === 0 && pending.backlog() === 0 && segment.parkedCount() === 0,
    parkedCount: segment.parkedCount,
    usedBytes: segment.usedBytes,
    close: segment.close,
    destroy: segment.destroy,
  };
}

function segmentWriter(segment: Segment) {
  const running = runningCalls();
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
  }

  return { write, running, last: () => last.settlement };
}

/** A long-lived Map keeps what passed through it until a full garbage collection: it is replaced after so many calls. */
const RENEWED_EVERY = 512;

/** The numbers of the intents of running calls. */
function runningCalls() {
  let seqs = new Map<string, number>();
  let ended = 0;
  return {
    begin: (id: string, seq: number) => void seqs.set(id, seq),
    /** Returns the number of the call's intent, if it had one. */
    end(id: string): number | undefined {
      const seq = seqs.get(id);
      if (!seqs.delete(id)) return undefined;
      ended += 1;
      if (ended % RENEWED_EVERY === 0) seqs = new Map(seqs);
      return seq;
    },
    seqOf: (id: string) => seqs.get(id),
    count: () => seqs.size,
  };
}
