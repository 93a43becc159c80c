import { Database } from "bun:sqlite";

/** A lock that the kernel releases when its process dies, however it dies. */
export type SpoolLock = { release(): void };

/**
 * Takes the lock file at `path`, making it if need be; null while another process, or another recorder of this
 * one, holds it. SQLite's own file locks are used because Bun offers no other; they need a local file system.
 */
export function takeLock(path: string): SpoolLock | null {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    db.run("PRAGMA busy_timeout = 0");
    db.run("PRAGMA journal_mode = OFF");
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => db.close() };
}

/** Whether SQLite only says that somebody else is at the file just now. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY");

/** Whether the fault lies with a spool file or the disk it is on. */
export const isSpoolFault = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_");

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
