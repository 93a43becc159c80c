/** A row as SQLite lays it out: the start of its content, and the page with the rest; 0: there is no more. */
export type Cell = { seq: number; payloadBytes: number; local: Buffer; overflow: number };

const LEAF_OF_TABLE = 0x0d;
const FILE_HEADER_BYTES = 100;
const PAGE_HEADER_BYTES = 8;
/** Far above any record; a damaged length must not become a size in memory. */
const PAYLOAD_BYTES_MAX = 16 * 1024 ** 2;

/** The rows of a page; none if it is no leaf of a table. Cells that point out of the page are left out. */
export function cellsOf(page: Buffer, isFirstPage: boolean): Cell[] {
  const start = isFirstPage ? FILE_HEADER_BYTES : 0;
  if (page[start] !== LEAF_OF_TABLE) return [];
  const room = Math.floor((page.length - start - PAGE_HEADER_BYTES) / 2);
  const count = Math.min(page.readUInt16BE(start + 3), room);
  const cells: Cell[] = [];
  for (let n = 0; n < count; n++) {
    const cell = cellAt(page, page.readUInt16BE(start + PAGE_HEADER_BYTES + 2 * n));
    if (cell !== null) cells.push(cell);
  }
  return cells;
}

function cellAt(page: Buffer, at: number): Cell | null {
  const payload = varintAt(page, at);
  const seq = payload && varintAt(page, payload.next);
  if (!payload || !seq || payload.value > PAYLOAD_BYTES_MAX) return null;
  const localBytes = localBytesOf(payload.value, page.length);
  const end = seq.next + localBytes;
  const isWhole = localBytes === payload.value;
  if (end + (isWhole ? 0 : 4) > page.length) return null;
  return {
    seq: seq.value,
    payloadBytes: payload.value,
    local: page.subarray(seq.next, end),
    overflow: isWhole ? 0 : page.readUInt32BE(end),
  };
}

/** How much of a row's content is on its own page (file format, section 1.6). */
function localBytesOf(payloadBytes: number, pageBytes: number): number {
  if (payloadBytes <= pageBytes - 35) return payloadBytes;
  const least = Math.floor(((pageBytes - 12) * 32) / 255) - 23;
  const wanted = least + ((payloadBytes - least) % (pageBytes - 4));
  return wanted <= pageBytes - 35 ? wanted : least;
}

/** SQLite's variable-length integer: up to nine bytes. Null if it does not end within `bytes`. */
export function varintAt(bytes: Buffer, at: number): { value: number; next: number } | null {
  let value = 0;
  for (let n = 0; n < 9; n++) {
    const byte = bytes[at + n];
    if (byte === undefined) return null;
    if (n === 8) return { value: value * 256 + byte, next: at + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + n + 1 };
  }
  return null;
}
