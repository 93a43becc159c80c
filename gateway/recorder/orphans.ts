import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type OrphanSegment, openOrphanSegment } from "./orphan-segment.ts";
import type { Source } from "./postgres-writer.ts";
import type { ParkedRow } from "./segment.ts";
import { type SegmentLock, takeLock } from "./segment-lock.ts";

export type OrphansOptions = {
  directory: string;
  log: Log;
  clock: Clock;
  /** Moves a parked row of a dead process's segment to the own one; resolves when it is there. */
  keepParked: (row: ParkedRow) => Promise<void>;
};

export type Orphans = {
  /** Adopts the segments of processes that have died since the last call. Returns the rows that came with them. */
  adopt(): number;
  sources(): readonly Source[];
  /** Deletes the segments whose rows are all in Postgres. */
  tidy(): Promise<void>;
  usedBytes(): number;
  parked(): number;
  /** Releases the segments that still hold rows: another process, or the next start, continues with them. */
  close(): void;
};

type Orphan = { path: string; lock: SegmentLock; segment: OrphanSegment };

const NAME = /^segment-[0-9a-f-]{36}$/;

/** The segments in `directory` by name without extension: `.db` is the file, `.lock` is held by its process. */
function segmentNames(directory: string): Set<string> {
  const names = readdirSync(directory).map((entry) => entry.replace(/\.(db|lock)$/, ""));
  return new Set(names.filter((name) => NAME.test(name)));
}

/** Adopts the segments that other processes left in the spool directory. */
export function createOrphans(options: OrphansOptions): Orphans {
  const { directory, log } = options;
  const adopted = new Map<string, Orphan>();

  function adopt(): number {
    let rows = 0;
    for (const name of segmentNames(directory)) {
      if (adopted.has(name)) continue;
      const orphan = takeOver(join(directory, name), options);
      if (!orphan) continue;
      adopted.set(name, orphan);
      const waiting = orphan.segment.source.backlog();
      rows += waiting;
      log.info({ file: name, rows: waiting }, "took over the spool of a dead process");
    }
    return rows;
  }

  async function tidy(): Promise<void> {
    for (const [name, { path, lock, segment }] of adopted) {
      if (segment.source.backlog() > 0) continue;
      adopted.delete(name);
      for (const row of segment.parkedRows()) await options.keepParked(row);
      await segment.destroy();
      rmSync(`${path}.lock`, { force: true });
      lock.release();
    }
  }

  const all = () => [...adopted.values()];
  return {
    adopt,
    sources: () => all().map(({ segment }) => segment.source),
    tidy,
    usedBytes: () => all().reduce((sum, { segment }) => sum + segment.usedBytes(), 0),
    parked: () => all().reduce((sum, { segment }) => sum + segment.parkedCount(), 0),
    close: () => {
      for (const { segment, lock } of all()) {
        segment.close();
        lock.release();
      }
      adopted.clear();
    },
  };
}

/**
 * A process makes its lock file a moment before it locks it, and its segment after that. Taking the lock in between
 * would end that process's start, or remove a lock that it is about to hold.
 */
const LOCK_ALONE_MS = 60_000;

const isJustMade = (lockPath: string, nowMs: number): boolean => {
  const made = statSync(lockPath, { throwIfNoEntry: false });
  return made === undefined || nowMs - made.mtimeMs < LOCK_ALONE_MS;
};

/** Null when the segment's process lives, or the segment cannot be read. */
function takeOver(path: string, { log, clock }: OrphansOptions): Orphan | null {
  const now = () => clock.now().getTime();
  const hasSegment = () => existsSync(`${path}.db`);
  if (!hasSegment() && isJustMade(`${path}.lock`, now())) return null;
  const lock = takeLock(`${path}.lock`);
  if (!lock) return null;
  try {
    if (hasSegment()) return { path, lock, segment: openOrphanSegment({ path: `${path}.db`, now }) };
    // Its process, or the one that adopted it, died between the deletion of the segment and that of the lock.
    rmSync(`${path}.lock`, { force: true });
  } catch (error) {
    log.error(errorFields(error), "the spool of a dead process cannot be read");
    if (isCorrupt(error)) setAside(path);
  }
  lock.release();
  return null;
}

const isCorrupt = (error: unknown) =>
  error instanceof Error && "code" in error && /^SQLITE_(NOTADB|CORRUPT)/.test(String(error.code));

/** Renames a file that is no segment, so that it is not tried again and a person can look at it. */
function setAside(path: string): void {
  renameSync(`${path}.db`, `${path}.corrupt`);
  rmSync(`${path}.lock`, { force: true });
}
