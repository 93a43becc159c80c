import { statfsSync } from "node:fs";
import type { Entry } from "./entry.ts";
import type { TurnLog } from "./turn-log.ts";

/** Space that only the ends of running calls may use, so that a full spool loses none of them. */
const RESERVE_BYTES = 16 * 1024 * 1024;
/** What the end of a running call may take. Its beginning goes later, with the turn in which it was written. */
const END_BYTES = 1024;
/** What SQLite adds to a row, roughly; the next measurement reads the true figure. */
const ROW_OVERHEAD_BYTES = 64;
const DISK_EVERY_MEASUREMENTS = 10;

export type Room = {
  /** Whether there is room for another call, beside the reserve: in the file's cap and on the disk. */
  left(): boolean;
  usedBytes(): number;
  /** Counts an entry that has been written since the last measurement. */
  count(entry: Entry): void;
  /** Reads the true figures. Cheap enough for ten times a second. */
  measure(): void;
  /** Reads at once what the disk has left: a write has failed, and the last look at it may be a second old. */
  look(): void;
};

export function roomOf(file: TurnLog, directory: string, bytesMax: number): Room {
  const reserveBytes = Math.min(RESERVE_BYTES, bytesMax / 2);
  let usedBytes = 0;
  let diskFreeBytes = 0;
  let measurements = 0;

  const look = () => {
    diskFreeBytes = freeBytesOf(directory);
  };

  function measure(): void {
    usedBytes = file.usedBytes();
    if (measurements % DISK_EVERY_MEASUREMENTS === 0) look();
    measurements += 1;
  }
  measure();

  return {
    left: () =>
      usedBytes + file.running() * END_BYTES < bytesMax - reserveBytes && diskFreeBytes >= reserveBytes,
    usedBytes: () => usedBytes,
    count: (entry) => {
      if (entry.kind === "intent" || entry.kind === "settle")
        usedBytes += entry.text.length + ROW_OVERHEAD_BYTES;
    },
    measure,
    look,
  };
}

function freeBytesOf(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    // A file system that cannot tell is trusted until a write fails.
    return Number.POSITIVE_INFINITY;
  }
}
