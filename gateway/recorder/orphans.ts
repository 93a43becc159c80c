import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Ambient } from "#shared/clock.ts";
import { type FileLock, takeLock } from "#shared/file-lock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type OrphanSegment, openOrphanSegment } from "./orphan-segment.ts";
import type { Source } from "./postgres-writer.ts";
import { isRecovered } from "./recovery/damage-report.ts";
import { silentDamage } from "./recovery/examine.ts";
import type { Recoveries } from "./recovery/recoveries.ts";
import { DamagedSegment } from "./row-sum.ts";
import type { ParkedRow } from "./segment.ts";
import { isUnreadable } from "./segment-faults.ts";

export type OrphansOptions = Ambient & {
  directory: string;
  recoveries: Recoveries;
  /** Moves a parked row of a dead process's segment to the own one; resolves when it is there. */
  keepParked: (row: ParkedRow) => Promise<void>;
};

type Orphan = { stem: string; lock: FileLock; segment: OrphanSegment; source: Source };

const NAME = /^segment-[0-9a-f-]{36}$/;

/** The segments in `directory` by name without extension: `.db` is the file, `.lock` is held by its process. */
export function segmentNames(directory: string): Set<string> {
  const names = readdirSync(directory).map((entry) => entry.replace(/\.(db|lock|recovered)$/, ""));
  return new Set(names.filter((name) => NAME.test(name)));
}

/** Adopts the segments that other processes left in the spool directory. */
export function createOrphans(options: OrphansOptions) {
  const { directory, log, recoveries } = options;
  const adopted = new Map<string, Orphan>();

  /** Adopts the segments of processes that have died since the last call. Returns the rows that came with them. */
  function adopt(): number {
    let rows = 0;
    for (const name of segmentNames(directory)) {
      if (adopted.has(name)) continue;
      const found = takeOver(join(directory, name), options);
      if (!found) continue;
      const orphan = { ...found, source: watched(name, found) };
      adopted.set(name, orphan);
      const waiting = orphan.source.backlog();
      rows += waiting;
      log.info({ file: name, rows: waiting }, "took over the spool of a dead process");
    }
    return rows;
  }

  /** The segment's rows. When one of them cannot be read, the segment is recovered and then adopted again. */
  function watched(name: string, { stem, lock, segment }: Omit<Orphan, "source">): Source {
    const { source } = segment;
    return {
      ...source,
      take(rowsMax) {
        try {
          return source.take(rowsMax);
        } catch (error) {
          if (!isUnreadable(error)) throw error;
          adopted.delete(name);
          segment.close();
          recoveries.start({ stem, lock, running: [] }, error);
          return [];
        }
      },
      mark() {
        const isReached = source.mark();
        return () => !adopted.has(name) || isReached();
      },
    };
  }

  /** Deletes the segments whose rows are all in Postgres. */
  async function tidy(): Promise<void> {
    for (const [name, { stem, lock, segment, source }] of adopted) {
      if (source.backlog() > 0) continue;
      adopted.delete(name);
      for (const row of segment.parkedRows()) await options.keepParked(row);
      await segment.destroy();
      rmSync(`${stem}.lock`, { force: true });
      lock.release();
    }
  }

  const all = () => [...adopted.values()];
  return {
    adopt,
    sources: (): readonly Source[] => all().map(({ source }) => source),
    tidy,
    usedBytes: () => all().reduce((sum, { segment }) => sum + segment.usedBytes(), 0),
    parked: () => all().reduce((sum, { segment }) => sum + segment.parkedCount(), 0),
    /** Releases the segments that still hold rows: another process, or the next start, continues with them. */
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

/** Null when the segment's process lives, or the segment has to be recovered first. */
function takeOver(stem: string, { log, clock, recoveries }: OrphansOptions): Omit<Orphan, "source"> | null {
  const now = () => clock.now().getTime();
  const path = `${stem}.db`;
  const hasSegment = () => existsSync(path) || isRecovered(stem);
  if (!hasSegment() && isJustMade(`${stem}.lock`, now())) return null;
  const lock = takeLock(`${stem}.lock`);
  if (!lock) return null;
  try {
    if (isRecovered(stem)) {
      recoveries.finish({ stem, lock });
      return null;
    }
    if (hasSegment()) {
      const damage = silentDamage(path);
      if (damage !== null) throw new DamagedSegment(damage);
      return { stem, lock, segment: openOrphanSegment({ path, now }) };
    }
    // Its process, or the one that adopted it, died between the deletion of the segment and that of the lock.
    for (const suffix of [".mark", ".lock-journal", ".lock"]) rmSync(stem + suffix, { force: true });
  } catch (error) {
    if (isUnreadable(error)) {
      recoveries.start({ stem, lock, running: [] }, error);
      return null;
    }
    log.error(errorFields(error), "the spool of a dead process cannot be read");
  }
  lock.release();
  return null;
}

/** How often the directory is searched for segments of processes that have died. */
const ADOPT_EVERY_MS = 2000;

/** Adopts segments of processes that have died, now and every 2 s, and deletes those that are done. */
export function adoptEvery(
  orphans: ReturnType<typeof createOrphans>,
  onRows: (rows: number) => void,
  log: Log,
) {
  const adopt = () => {
    try {
      const rows = orphans.adopt();
      if (rows > 0) onRows(rows);
    } catch (error) {
      log.error(errorFields(error), "the spool directory cannot be read");
    }
    orphans.tidy().catch((error) => log.error(errorFields(error), "a spool file cannot be deleted"));
  };
  adopt();
  const timer = setInterval(adopt, ADOPT_EVERY_MS);
  timer.unref();
  return { adopt, stop: () => clearInterval(timer) };
}
