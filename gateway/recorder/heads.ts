import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { StoredEntries } from "./orphan-shelves.ts";

/** A part of the heads' file: it holds one turn of the spool, which grows until there is no more room. */
export type Head = {
  /** Adds lines (turn-lines.ts) to the turn `n`; false, and nothing is changed, where they have no room. */
  add(n: number, at: number, lines: string): boolean;
  /** Nobody needs the turn any more. */
  clear(): void;
};

/**
 * What stands before the spool file: a small file in the process's memory, to which a turn of the event loop is added
 * by a copy. Its pages are the operating system's, so what is in it outlives the process, as a commit to the spool
 * file does. There are several, so that what Postgres has soon need never go further: it waits in one while the others
 * are written.
 */
export type Heads = {
  parts: readonly Head[];
  path: string;
  /** Deletes the file. */
  remove(): void;
};

/** At ten thousand calls a second, what is recorded in 150 ms: Postgres has it after 50 to 100. */
const HEADS = 12;
const HEAD_BYTES = 256 * 1024;
/** Zeros are written, not only promised: memory that no disk stands behind kills the process. */
const SIZE_BYTES = HEADS * HEAD_BYTES;
/** The file of versions that had a single head. */
const SINGLE_BYTES = 512 * 1024;
/** Length of the lines in bytes and their checksum as 32-bit integers, then `n` and `at` as 64-bit floats. */
const FRAME_BYTES = 24;
/** The checksum covers everything that follows it. */
const CHECKED_FROM = 8;
/** Most bytes that a UTF-16 code unit takes in UTF-8. */
const BYTES_PER_UNIT = 3;

/**
 * Magic numbers (statfs(2)) of ext4, XFS and tmpfs, which write over a block where it lies. Others look for a new one,
 * and when the disk is full there is none: a copy into the file would kill the process then.
 */
const OVERWRITING = new Set([0xef53, 0x58465342, 0x01021994]);

/** Where the heads of the spool file at `path` lie. */
export const headPathOf = (path: string): string => `${path.replace(/\.db$/, "")}.head`;

/** Makes the heads of the spool file at `path`. @throws Error where the disk or its file system does not allow it. */
export function makeHeads(path: string): Heads {
  if (!OVERWRITING.has(statfsSync(dirname(path)).type)) throw new Error("not on this file system");
  const headPath = headPathOf(path);
  const remove = () => rmSync(headPath, { force: true });
  try {
    allocate(headPath);
    const { buffer, byteOffset } = Bun.mmap(headPath, { shared: true });
    const parts = Array.from({ length: HEADS }, (_, index) =>
      framesIn(Buffer.from(buffer, byteOffset + index * HEAD_BYTES, HEAD_BYTES)),
    );
    return { parts, path: headPath, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function allocate(path: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    const zeros = new Uint8Array(SIZE_BYTES);
    for (let at = 0; at < SIZE_BYTES; ) at += writeSync(file, zeros, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function framesIn(bytes: Buffer): Head {
  let end = 0;
  return {
    add(n, at, lines) {
      const start = end + FRAME_BYTES;
      const room = bytes.length - start;
      if (lines.length * BYTES_PER_UNIT > room && Buffer.byteLength(lines) > room) return false;
      const length = bytes.write(lines, start, "utf8");
      bytes.writeDoubleLE(n, end + 8);
      bytes.writeDoubleLE(at, end + 16);
      bytes.writeUInt32LE(checksum(bytes, end, length), end + 4);
      // Last: until then what was there before ends the file.
      bytes.writeUInt32LE(length, end);
      end = start + length;
      return true;
    },
    clear() {
      bytes.writeUInt32LE(0, 0);
      end = 0;
    },
  };
}

const checksum = (bytes: Buffer, frame: number, length: number): number =>
  Bun.hash.crc32(bytes.subarray(frame + CHECKED_FROM, frame + FRAME_BYTES + length));

/** The turns in the heads at `path`, oldest first; none where they are not there. What was not written whole is left out. */
export function turnsInHeads(path: string): StoredEntries[] {
  const bytes = bytesOf(path);
  const partBytes = bytes.length === SINGLE_BYTES ? SINGLE_BYTES : HEAD_BYTES;
  const turns: StoredEntries[] = [];
  for (let from = 0; from < bytes.length; from += partBytes) {
    const turn = turnIn(bytes.subarray(from, from + partBytes));
    if (turn) turns.push(turn);
  }
  return turns.sort((one, other) => one.n - other.n);
}

function turnIn(bytes: Buffer): StoredEntries | null {
  let turn: StoredEntries | null = null;
  for (let at = 0; at + FRAME_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    if (length === 0 || at + FRAME_BYTES + length > bytes.length) break;
    if (bytes.readUInt32LE(at + 4) !== checksum(bytes, at, length)) break;
    const n = bytes.readDoubleLE(at + 8);
    // What follows the last frame may be left of an earlier turn.
    if (turn && turn.n !== n) break;
    turn ??= { n, at: 0, body: "" };
    turn.at ||= bytes.readDoubleLE(at + 16);
    turn.body += bytes.toString("utf8", at + FRAME_BYTES, at + FRAME_BYTES + length);
    at += FRAME_BYTES + length;
  }
  return turn;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
