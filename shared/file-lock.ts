import { Database } from "bun:sqlite";
import { truncateSync } from "node:fs";
import { codeOf } from "./error-code.ts";

/** A lock that the kernel releases when its process dies, however it dies. */
export type FileLock = { release(): void };

/**
 * Takes the lock file at `path`, making it if need be. Null while another process, or another holder in this one, has it.
 * These are SQLite's file locks, as Bun offers no others; they need a local file system.
 */
export function takeLock(path: string): FileLock | null {
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

/** Whether the content of one of SQLite's files is not what was written. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
