import { Database } from "bun:sqlite";

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
    throw error;
  }
  return { release: () => db.close() };
}

/** Whether SQLite only reports that another connection holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY");

/** Whether the fault lies with a segment or its disk. */
export const isSpoolFault = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_");

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
