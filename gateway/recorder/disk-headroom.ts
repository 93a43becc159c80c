import { statfsSync } from "node:fs";
import type { Entry, OwnSegment } from "./own-segment.ts";

/** Space that only settlements of running calls may use, so that a full spool loses none of them. */
const RESERVE_BYTES = 16 * 1024 * 1024;
/** Maximum extra size of a settlement over its intent, whose space it frees. */
const SETTLEMENT_BYTES = 1024;
/** SQLite's approximate overhead per row; the next measurement reads the true figure. */
const ROW_OVERHEAD_BYTES = 64;
const DISK_EVERY_MEASUREMENTS = 10;

type HeadroomOptions = { segment: OwnSegment; directory: string; bytesMax: number };

export function diskHeadroom({ segment, directory, bytesMax }: HeadroomOptions) {
  const reserveBytes = Math.min(RESERVE_BYTES, bytesMax / 2);
  let usedBytes = 0;
  let diskFreeBytes = 0;
  let measurements = 0;

  const measureDisk = () => {
    diskFreeBytes = freeBytesOf(directory);
  };

  function measure(): void {
    usedBytes = segment.usedBytes();
    if (measurements % DISK_EVERY_MEASUREMENTS === 0) measureDisk();
    measurements += 1;
  }
  measure();

  return {
    /** Whether another call fits beside the reserve, under the spool's cap and on the disk. */
    left: () =>
      usedBytes + segment.running() * SETTLEMENT_BYTES < bytesMax - reserveBytes &&
      diskFreeBytes >= reserveBytes,
    usedBytes: () => usedBytes,
    /** Counts an entry written since the last measurement. */
    count: (entry: Entry) => {
      if (entry.kind === "intent" || entry.kind === "settlement")
        usedBytes += entry.text.length + ROW_OVERHEAD_BYTES;
    },
    /** Reads the true size. Cheap enough for ten times a second. */
    measure,
    /** Reads the disk's free space now: a write failed, and the last reading may be a second old. */
    measureDisk,
  };
}

function freeBytesOf(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    // A file system that does not report it is trusted until a write fails.
    return Number.POSITIVE_INFINITY;
  }
}
