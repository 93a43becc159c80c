/** An unfinished line: its stream offset, and its parts from earlier chunks. */
export type SseLine = { start: number; parts: Uint8Array[] };

export const LF = 0x0a;
export const CR = 0x0d;
export const COLON = 0x3a;
export const NOTHING = new Uint8Array();
const BLANK = 0x20;
const BOM = [0xef, 0xbb, 0xbf] as const;
const BOM_BYTES = Uint8Array.from(BOM);
const DATA = [..."data"].map((letter) => letter.charCodeAt(0));

/** Iterates a chunk's line breaks; -1 after the last. Searches resume where they ended, so a chunk is scanned once. */
export function lineBreaks(chunk: Uint8Array, start: number): (from: number) => number {
  let lf = chunk.indexOf(LF, start);
  let cr = chunk.indexOf(CR, start);
  return (from) => {
    if (lf !== -1 && lf < from) lf = chunk.indexOf(LF, from);
    if (cr !== -1 && cr < from) cr = chunk.indexOf(CR, from);
    return lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr);
  };
}

function startsWith(bytes: Uint8Array, prefix: ArrayLike<number>): boolean {
  for (let index = 0; index < prefix.length; index += 1) if (bytes[index] !== prefix[index]) return false;
  return true;
}

/** Joins a line, without a BOM at the start of the stream. */
export function wholeLine({ start, parts }: SseLine, rest: Uint8Array): { bytes: Uint8Array; start: number } {
  const bytes = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
  const marked = start === 0 && startsWith(bytes, BOM);
  return marked ? { bytes: bytes.subarray(BOM.length), start: BOM.length } : { bytes, start };
}

const headOf = ({ parts }: SseLine): Uint8Array =>
  Buffer.concat(parts.slice(0, 4).map((part) => part.subarray(0, 4)));

/** Offset of an unfinished line, once its first byte shows that it is a field and not a comment. */
export function fieldStart(line: SseLine): number | null {
  const head = headOf(line);
  const from = line.start === 0 && startsWith(head, BOM) ? BOM.length : 0;
  if (head.byteLength === from || head[from] === COLON || mayBecomeBom(line)) return null;
  return line.start + from;
}

export function mayBecomeBom(line: SseLine): boolean {
  const head = headOf(line);
  return (
    line.start === 0 &&
    head.byteLength > 0 &&
    head.byteLength < BOM.length &&
    startsWith(BOM_BYTES, [...head])
  );
}

/** The value of a `data` line, without one optional space after the colon; null for other fields. */
export function valueOfData(line: Uint8Array): Uint8Array | null {
  if (!startsWith(line, DATA)) return null;
  if (line.byteLength === DATA.length) return NOTHING;
  if (line[DATA.length] !== COLON) return null;
  return line.subarray(line[DATA.length + 1] === BLANK ? DATA.length + 2 : DATA.length + 1);
}
