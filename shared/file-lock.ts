import { Database } from "bun:sqlite";
import { truncateSync } from "node:fs";
import { codeOf } from "./error-code.ts";

/** A lock that the kernel releases when its process dies, however it dies. */
export type FileLock = { release(): void };

/** Locks the file at `path`, made if need be; null: held. SQLite's locks, as Bun has none; local file systems only. */
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
