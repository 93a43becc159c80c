import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { PAGE_BYTES } from "../segment.ts";
import { type Cell, cellsOf } from "./leaf-page.ts";
import { type FoundRow, rowOf } from "./row-of.ts";
import { readWal, type WalFrame } from "./wal.ts";

/** Pages read at a time. */
const PAGES_AT_ONCE = 256;

/** Pages of a segment by number, where there may be several versions of one. */
type Pages = {
  count: number;
  frames: readonly WalFrame[];
  /** The version in the file. */
  inFile(page: number): Buffer | null;
  inFrame(frame: WalFrame): Buffer | null;
};

/**
 * Every whole row in the files of the segment at `path`, read without SQLite, which gives up at a damaged page. Rows come
 * in no order, those that are on several versions of a page repeatedly, and deleted ones may be among them.
 */
export function* foundRows(path: string): Generator<FoundRow> {
  const opened = [path, `${path}-wal`].map((file) => (existsSync(file) ? openSync(file, "r") : null));
  const [file = null, log = null] = opened;
  try {
    const pages = pagesOf(file, log);
    for (let page = 1; page <= pages.count; page++) {
      const bytes = pages.inFile(page);
      if (bytes) yield* rowsOn(bytes, page, [...overflowOrders(pages, null)]);
    }
    for (const [index, frame] of pages.frames.entries()) {
      const bytes = pages.inFrame(frame);
      if (bytes) yield* rowsOn(bytes, frame.page, [...overflowOrders(pages, index)]);
    }
  } finally {
    for (const fd of opened) if (fd !== null) closeSync(fd);
  }
}

function pagesOf(file: number | null, log: number | null): Pages {
  const count = file === null ? 0 : Math.ceil(fstatSync(file).size / PAGE_BYTES);
  const chunk = Buffer.alloc(PAGES_AT_ONCE * PAGE_BYTES);
  let chunkFirst = 0;
  let chunkBytes = 0;
  return {
    count,
    frames: log === null ? [] : readWal(log, PAGE_BYTES).frames,
    inFile(page) {
      if (file === null || page < 1 || page > count) return null;
      const inChunk = (page - chunkFirst) * PAGE_BYTES;
      if (chunkFirst === 0 || inChunk < 0 || inChunk >= chunkBytes) {
        // An overflow page: read by itself, so that reading continues in the chunk.
        if (chunkFirst !== 0 && page !== chunkFirst + PAGES_AT_ONCE)
          return readPage(file, (page - 1) * PAGE_BYTES);
        chunkFirst = page;
        chunkBytes = readable(file, chunk, (page - 1) * PAGE_BYTES);
        return copyOf(chunk, 0);
      }
      return copyOf(chunk, inChunk);
    },
    inFrame: ({ at }) => (log === null ? null : readPage(log, at)),
  };
}

const copyOf = (chunk: Buffer, at: number): Buffer => Buffer.from(chunk.subarray(at, at + PAGE_BYTES));

/** A short or unreadable page is read as far as it goes; the rest is zeros. */
function readPage(fd: number, at: number): Buffer {
  const bytes = Buffer.alloc(PAGE_BYTES);
  readable(fd, bytes, at);
  return bytes;
}

/** Bytes read from `at`. Where the disk refuses a page, zeros take its place. */
function readable(fd: number, into: Buffer, at: number): number {
  into.fill(0);
  try {
    return readSync(fd, into, 0, into.length, at);
  } catch {
    if (into.length === PAGE_BYTES) return 0;
    for (let n = 0; n < into.length; n += PAGE_BYTES) readable(fd, into.subarray(n, n + PAGE_BYTES), at + n);
    return into.length;
  }
}

type Overflow = (page: number) => Buffer | null;

/** Where the rest of a long row may be: in the log's version of that time, in its newest, or in the file. */
function* overflowOrders(pages: Pages, index: number | null): Generator<Overflow> {
  const newestBefore = (limit: number): Overflow => {
    return (page) => {
      const frame = pages.frames.findLast((it, at) => at < limit && it.page === page);
      return frame ? pages.inFrame(frame) : pages.inFile(page);
    };
  };
  if (index !== null) {
    const end = pages.frames.findIndex((it, at) => at >= index && it.isCommit);
    yield newestBefore(end === -1 ? pages.frames.length : end + 1);
  }
  yield pages.inFile;
  yield newestBefore(pages.frames.length);
}

function* rowsOn(bytes: Buffer, page: number, orders: readonly Overflow[]): Generator<FoundRow> {
  for (const cell of cellsOf(bytes, page === 1)) {
    for (const overflow of cell.overflow === 0 ? [() => null] : orders) {
      const payload = payloadOf(cell, overflow);
      const row = payload && rowOf(cell.seq, payload);
      if (row) {
        yield row;
        break;
      }
    }
  }
}

/** The whole content of a row; null if a part of it is missing. */
function payloadOf({ local, overflow, payloadBytes }: Cell, pageOf: Overflow): Buffer | null {
  const parts = [local];
  let left = payloadBytes - local.length;
  for (let page = overflow; left > 0; ) {
    const bytes = pageOf(page);
    if (!bytes) return null;
    const part = bytes.subarray(4, 4 + Math.min(left, PAGE_BYTES - 4));
    parts.push(part);
    left -= part.length;
    page = bytes.readUInt32BE(0);
  }
  return parts.length === 1 ? local : Buffer.concat(parts, payloadBytes);
}
