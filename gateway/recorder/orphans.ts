import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { headPathOf } from "./heads.ts";
import { type OrphanFile, openOrphanFile } from "./orphan-file.ts";
import type { Source } from "./source.ts";
import type { ParkedRow } from "./spool-file.ts";
import { type SpoolLock, takeLock } from "./spool-lock.ts";

export type OrphansOptions = {
  directory: string;
  log: Log;
  clock: Clock;
  /** Moves a parked row of a dead process's file to the own one; resolves when it is there. */
  keepParked: (row: ParkedRow) => Promise<void>;
};

export type Orphans = {
  /** Takes over the files of processes that have died since the last look. Returns the rows that came with them. */
  adopt(): number;
  sources(): readonly Source[];
  /** Deletes the files whose rows are all in Postgres. */
  tidy(): Promise<void>;
  usedBytes(): number;
  parked(): number;
  /** Lets go of the files that still hold rows: another process, or the next start, goes on with them. */
  close(): void;
};

type Orphan = { path: string; lock: SpoolLock; file: OrphanFile };

/**
 * Versions that know no turns call their files `spool-`, those without a head `turns-`, those with a single one `calls-`,
 * and leave others alone.
 */
const NAME = /^(?:spool|turns|calls|heads)-[0-9a-f-]{36}$/;

/** The spool files in `directory` by name without ending: `.db`, with `.head` before it; `.lock` is its process's. */
function spoolNames(directory: string): Set<string> {
  const names = readdirSync(directory).map((entry) => entry.replace(/\.(db|head|lock)$/, ""));
  return new Set(names.filter((name) => NAME.test(name)));
}

/**
 * Watches over the files that other processes left behind in the spool directory. A call that its process never
 * ended is stored as the row that its intent holds: interrupted.
 */
export function createOrphans(options: OrphansOptions): Orphans {
  const { directory, log } = options;
  const adopted = new Map<string, Orphan>();

  function adopt(): number {
    let rows = 0;
    for (const name of spoolNames(directory)) {
      if (adopted.has(name)) continue;
      const orphan = takeOver(join(directory, name), options);
      if (!orphan) continue;
      adopted.set(name, orphan);
      const waiting = orphan.file.source.backlog();
      rows += waiting;
      log.info({ file: name, rows: waiting }, "took over the spool of a process that died");
    }
    return rows;
  }

  async function tidy(): Promise<void> {
    for (const [name, { path, lock, file }] of adopted) {
      if (file.source.backlog() > 0) continue;
      adopted.delete(name);
      for (const row of file.parkedRows()) await options.keepParked(row);
      await file.destroy();
      rmSync(`${path}.lock`, { force: true });
      lock.release();
    }
  }

  const all = () => [...adopted.values()];
  return {
    adopt,
    sources: () => all().map(({ file }) => file.source),
    tidy,
    usedBytes: () => all().reduce((sum, { file }) => sum + file.usedBytes(), 0),
    parked: () => all().reduce((sum, { file }) => sum + file.parkedCount(), 0),
    close: () => {
      for (const { file, lock } of adopted.values()) {
        file.close();
        lock.release();
      }
      adopted.clear();
    },
  };
}

/**
 * A process makes its lock's file a moment before it holds it, and then its other files. Who took that lock in between
 * would end its start, or remove what it is about to hold, and others would take it for dead.
 */
const LOCK_ALONE_MS = 60_000;

const hasFiles = (path: string): boolean => [`${path}.db`, headPathOf(path)].some((file) => existsSync(file));

const isJustMade = (lockPath: string, nowMs: number): boolean => {
  const made = statSync(lockPath, { throwIfNoEntry: false });
  return made === undefined || nowMs - made.mtimeMs < LOCK_ALONE_MS;
};

/** Null when the process of the file lives, or the file cannot be read. */
function takeOver(path: string, { log, clock }: OrphansOptions): Orphan | null {
  const now = () => clock.now().getTime();
  if (!hasFiles(path) && isJustMade(`${path}.lock`, now())) return null;
  const lock = takeLock(`${path}.lock`);
  if (!lock) return null;
  try {
    if (hasFiles(path)) {
      const file = openOrphanFile({ path: `${path}.db`, sync: "normal", now });
      return { path, lock, file };
    }
    // Its process, or whoever took it over, died between the deletion of the file and that of the lock.
    rmSync(`${path}.lock`, { force: true });
  } catch (error) {
    log.error(errorFields(error), "the spool of a process that died cannot be read");
    if (isCorrupt(error)) setAside(path);
  }
  lock.release();
  return null;
}

const isCorrupt = (error: unknown) =>
  error instanceof Error && "code" in error && /^SQLITE_(NOTADB|CORRUPT)/.test(String(error.code));

/** Renames a file that is no spool any more, for a person to look at, so that it is not tried every time. */
function setAside(path: string): void {
  renameSync(`${path}.db`, `${path}.corrupt`);
  rmSync(`${path}.lock`, { force: true });
}
