import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * What a segment should hold, in a small file beside it. It makes a loss countable: a segment that was cut short shows
 * no gap of its own. It is written after each commit, so the segment may be ahead of it, but never behind.
 */
export type Mark = {
  /** Number of the last settlement ever written. */
  settled: number;
  /** Settlements up to here are in Postgres or parked. */
  sent: number;
  /** Intents without a settlement, and the number of the first of them. */
  running: number;
  firstRunning: number;
};

export type MarkFile = {
  /** Throws the system's error. */
  write(mark: Mark): void;
  close(): void;
};

const FORMAT = 1;
const BYTES = 5 * 8 + 4;

export const markPathOf = (segmentPath: string): string => segmentPath.replace(/\.db$/, ".mark");

/** Opens the mark of the segment at `segmentPath`, and makes it if it does not exist. */
export function openMark(segmentPath: string): MarkFile {
  const file = openSync(markPathOf(segmentPath), "a+", 0o600);
  closeSync(file);
  const fd = openSync(markPathOf(segmentPath), "r+");
  const bytes = Buffer.alloc(BYTES);
  return {
    write({ settled, sent, running, firstRunning }) {
      const values = [FORMAT, settled, sent, running, firstRunning];
      for (const [at, value] of values.entries()) bytes.writeDoubleLE(value, at * 8);
      bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(0, BYTES - 4)), BYTES - 4);
      writeSync(fd, bytes, 0, BYTES, 0);
    },
    close: () => closeSync(fd),
  };
}

/** The mark of the segment at `segmentPath`; null if it has none, or a damaged one. */
export function readMark(segmentPath: string): Mark | null {
  const bytes = readIfThere(markPathOf(segmentPath));
  if (bytes?.length !== BYTES) return null;
  if (bytes.readUInt32LE(BYTES - 4) !== Bun.hash.crc32(bytes.subarray(0, BYTES - 4))) return null;
  const [format, settled = 0, sent = 0, running = 0, firstRunning = 0] = [0, 1, 2, 3, 4].map((at) =>
    bytes.readDoubleLE(at * 8),
  );
  return format === FORMAT ? { settled, sent, running, firstRunning } : null;
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** Records that `mark` promises and a segment with these does not have. It may have more. */
export function missingFrom(
  mark: Mark,
  found: { settlements: number; last: number; intents: number },
): { settlements: number; intents: number } {
  const newer = Math.max(0, found.last - mark.settled);
  const settlements = Math.max(mark.settled, found.last) - mark.sent;
  return {
    settlements: Math.max(0, settlements - found.settlements),
    // Each newer settlement may have ended one of them.
    intents: Math.max(0, mark.running - newer - found.intents),
  };
}
