import { Database } from "bun:sqlite";
import { truncateSync } from "node:fs";

/** A lock that the kernel releases when its process dies, however it dies. */
export type SegmentLock = { release(): void };

/**
 * Takes the lock file at `path`, making it if need be. Null while another process, or another recorder of this one,
 * holds it. These are SQLite's file locks, as Bun offers no others; they need a local file system.
 */
export function takeLock(path: string): SegmentLock | null {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    db.run("PRAGMA busy_timeout = 0");
    db.run("PRAGMA journal_mode = OFF");
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    // No process holds it, and its content is useless: an empty file is a lock again.
    if (!isDamage(error)) throw error;
    truncateSync(path);
    return takeLock(path);
  }
  return { release: () => db.close() };
}

/** Whether SQLite only reports that another connection holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY");

/** Whether the fault lies with a segment or its disk. */
export const isSpoolFault = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_");

/** Whether a segment's content is not what was written. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));

/** Whether a segment cannot be read: it is damaged, or cut short, or its disk refuses a page. */
export const isUnreadable = (error: unknown): boolean =>
  isDamage(error) || /^SQLITE_IOERR_(READ|SHORT_READ)/.test(codeOf(error));

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
