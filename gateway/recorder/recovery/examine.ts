import { closeSync, openSync, statSync } from "node:fs";
import { readMark } from "../mark-file.ts";
import { PAGE_BYTES } from "../segment.ts";
import { readWal } from "./wal.ts";

/**
 * What is wrong with a segment in a way that SQLite would pass over in silence; null if nothing is. It reads its log
 * only up to a damaged frame, and deletes it beside an empty file. `path` must not be open in this process.
 */
export function silentDamage(path: string): string | null {
  const logBytes = sizeOf(`${path}-wal`);
  if (sizeOf(path) === 0) {
    const mark = readMark(path);
    const held = mark === null ? 0 : mark.settled - mark.sent + mark.running;
    return logBytes > 0 || held > 0 ? "the file is empty" : null;
  }
  if (logBytes === 0) return null;
  const log = openSync(`${path}-wal`, "r");
  try {
    return readWal(log, PAGE_BYTES).damaged ? "its write-ahead log is damaged" : null;
  } finally {
    closeSync(log);
  }
}

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
