import { readSync } from "node:fs";

/** A page in SQLite's write-ahead log. `at` is the offset of its content in the file. */
export type WalFrame = { page: number; at: number; isCommit: boolean };

export type Wal = {
  /** All frames of the log's present generation, also behind a damaged one. */
  frames: WalFrame[];
  /** Whether SQLite would stop reading before the last commit because a frame is damaged. */
  damaged: boolean;
};

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

type Sum = readonly [number, number];

/**
 * Reads the log behind `fd`. Each frame's checksum continues the one before, so SQLite ignores everything after a
 * damaged frame. Continued from what the frame before says its checksum is, the others can be verified again.
 */
export function readWal(fd: number, pageBytes: number): Wal {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { frames: [], damaged: false };
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1;
  const isWhole = isHeaderWhole(header, isBigEndian);
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  const frames: WalFrame[] = [];
  let salt = isWhole ? header.readBigUInt64BE(16) : null;
  let before: Sum = sumAt(header, 24);
  let broken = !isWhole;
  let damaged = false;
  for (let at = HEADER_BYTES; readSync(fd, bytes, 0, bytes.length, at) === bytes.length; at += bytes.length) {
    const verified = isSame(frameSum(bytes, before, isBigEndian), sumAt(bytes, 16));
    before = sumAt(bytes, 16);
    // Without a header, the first frame that verifies says which generation the log is of.
    if (verified) salt ??= bytes.readBigUInt64BE(8);
    const isPresent = bytes.readBigUInt64BE(8) === salt;
    const frame = frameOf(bytes, at);
    // Without a commit it may be left of a transaction whose process was killed, with newer frames over its beginning.
    damaged ||= broken && verified && isPresent && frame.isCommit;
    broken ||= !(verified && isPresent);
    // A damaged frame may still hold whole rows: they have sums of their own.
    if (isPresent || verified) frames.push(frame);
  }
  return { frames, damaged };
}

const isHeaderWhole = (header: Buffer, isBigEndian: boolean): boolean =>
  (header.readUInt32BE(0) & ~1) >>> 0 === MAGIC &&
  isSame(checksum(header.subarray(0, 24), [0, 0], isBigEndian), sumAt(header, 24));

const frameOf = (bytes: Buffer, at: number): WalFrame => ({
  page: bytes.readUInt32BE(0),
  at: at + FRAME_HEADER_BYTES,
  isCommit: bytes.readUInt32BE(4) !== 0,
});

const frameSum = (bytes: Buffer, before: Sum, isBigEndian: boolean): Sum =>
  checksum(
    bytes.subarray(FRAME_HEADER_BYTES),
    checksum(bytes.subarray(0, 8), before, isBigEndian),
    isBigEndian,
  );

const sumAt = (bytes: Buffer, at: number): Sum => [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];

const isSame = ([a, b]: Sum, [c, d]: Sum): boolean => a === c && b === d;

/** SQLite's checksum of its log (file format, section 4.2). */
function checksum(bytes: Buffer, [first, second]: Sum, isBigEndian: boolean): Sum {
  let [s0, s1] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    s0 = (s0 + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + s1) >>> 0;
    s1 = (s1 + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + s0) >>> 0;
  }
  return [s0, s1];
}
