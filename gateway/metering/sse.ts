/**
 * One event of an SSE stream: its data lines joined, and where it stands in the stream. `start` is the offset of its
 * first field line (comments before it are not part of it), `end` the one after the line break that ends it; of a
 * CR LF there, `end` counts the CR only, because the LF may not have come yet.
 */
export type SseEvent = { data: Uint8Array; start: number; end: number };

/** The event under way: where it starts, how many bytes of it have come, and its data so far. */
type Pending = { start: number; size: number; data(): Uint8Array };

type SseSplitter = {
  /** The events that end in this chunk. */
  push(chunk: Uint8Array): SseEvent[];
  /** The event that the stream broke off in, as if it had ended there; null when it has no data. */
  end(): SseEvent | null;
  pending(): Pending | null;
};

type Line = { start: number; parts: Uint8Array[] };
/** Of `data`, the first `owned` lines are copies of our own. */
type UnderWay = { start: number | null; data: Uint8Array[]; owned: number };

/** An event larger than this is passed over: it is not read, and costs no more memory than this. */
export const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/** Pieces kept apart before they are joined: many tiny ones would cost far more memory than their bytes. */
const PARTS_MAX = 1024;

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BLANK = 0x20;
const NOTHING = new Uint8Array();
const BOM = [0xef, 0xbb, 0xbf] as const;
const BOM_BYTES = Uint8Array.from(BOM);
const DATA = [..."data"].map((letter) => letter.charCodeAt(0));

/**
 * Splits a byte stream into events, wherever its chunks are cut: LF, CR and CR LF, a BOM, comments and several data
 * lines, as the HTML standard interprets an event stream. Fields other than `data` are passed over.
 */
export function sseSplitter(): SseSplitter {
  /** Offset of the next byte to come. */
  let position = 0;
  /** The last byte was a CR, so an LF that comes next belongs to it. */
  let afterCr = false;
  let line: Line = { start: 0, parts: [] };
  let event: UnderWay = begun();

  const endLine = (rest: Uint8Array, end: number): SseEvent | null => {
    const { bytes, start } = wholeLine(line, rest);
    line = { start: end, parts: [] };
    if (bytes.byteLength > 0) {
      if (bytes[0] !== COLON) addField(event, bytes, start);
      return null;
    }
    const ended = event;
    event = begun();
    return eventOf(ended, end);
  };

  return {
    push(chunk) {
      const events: SseEvent[] = [];
      const next = lineBreaks(chunk);
      let from = 0;
      const skipLf = () => {
        if (chunk[from] !== LF) return;
        from += 1;
        line.start += 1;
      };
      if (afterCr && chunk.byteLength > 0) {
        skipLf();
        afterCr = false;
      }
      for (let at = next(from); at !== -1; at = next(from)) {
        const ended = endLine(chunk.subarray(from, at), position + at + 1);
        if (ended) events.push(ended);
        from = at + 1;
        if (chunk[at] !== CR) continue;
        if (from === chunk.byteLength) afterCr = true;
        else skipLf();
      }
      position += chunk.byteLength;
      keep(line, event, chunk.subarray(from), position);
      return events;
    },
    end() {
      const { bytes, start } = wholeLine(line, NOTHING);
      if (bytes.byteLength > 0 && bytes[0] !== COLON) addField(event, bytes, start);
      const ended = event;
      line = { start: position, parts: [] };
      event = begun();
      return eventOf(ended, position);
    },
    pending() {
      const start = event.start ?? (mayBecomeBom(line) ? line.start : null);
      if (start === null) return null;
      return { start, size: position - start, data: () => joined([...event.data, ...lastOf(line)]) };
    },
  };
}

const begun = (): UnderWay => ({ start: null, data: [], owned: 0 });

/** The line breaks of a chunk in turn; -1 after the last. Each search goes on where it ended: a chunk is searched once. */
function lineBreaks(chunk: Uint8Array): (from: number) => number {
  let lf = chunk.indexOf(LF);
  let cr = chunk.indexOf(CR);
  return (from) => {
    if (lf !== -1 && lf < from) lf = chunk.indexOf(LF, from);
    if (cr !== -1 && cr < from) cr = chunk.indexOf(CR, from);
    return lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr);
  };
}

const startsWith = (bytes: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

/** A BOM at the very beginning of the stream is not part of its first line. */
function wholeLine({ start, parts }: Line, rest: Uint8Array): { bytes: Uint8Array; start: number } {
  const bytes = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
  const marked = start === 0 && startsWith(bytes, BOM);
  return marked ? { bytes: bytes.subarray(BOM.length), start: BOM.length } : { bytes, start };
}

const headOf = ({ parts }: Line): Uint8Array =>
  Buffer.concat(parts.slice(0, 4).map((part) => part.subarray(0, 4)));

/** Where the line under way starts, once its first byte tells that it is a field. */
function fieldStart(line: Line): number | null {
  const head = headOf(line);
  const from = line.start === 0 && startsWith(head, BOM) ? BOM.length : 0;
  if (head.byteLength === from || head[from] === COLON || mayBecomeBom(line)) return null;
  return line.start + from;
}

function mayBecomeBom(line: Line): boolean {
  const head = headOf(line);
  return (
    line.start === 0 &&
    head.byteLength > 0 &&
    head.byteLength < BOM.length &&
    startsWith(BOM_BYTES, [...head])
  );
}

/** The value of the line under way, when it is a `data` line. */
function lastOf(line: Line): Uint8Array[] {
  const value = valueOfData(wholeLine(line, NOTHING).bytes);
  return value ? [value] : [];
}

function addField(event: UnderWay, line: Uint8Array, start: number): void {
  event.start ??= start;
  const value = valueOfData(line);
  if (value) event.data.push(value);
  if (event.data.length < PARTS_MAX) return;
  event.data = [joined(event.data)];
  event.owned = 1;
}

/** The value of a `data` line, without the one blank that may follow the colon; null for any other field. */
function valueOfData(line: Uint8Array): Uint8Array | null {
  if (!startsWith(line, DATA)) return null;
  if (line.byteLength === DATA.length) return NOTHING;
  if (line[DATA.length] !== COLON) return null;
  return line.subarray(line[DATA.length + 1] === BLANK ? DATA.length + 2 : DATA.length + 1);
}

function eventOf({ start, data }: UnderWay, end: number): SseEvent | null {
  if (start === null || data.length === 0 || end - start > EVENT_BYTES_MAX) return null;
  return { data: joined(data), start, end };
}

/**
 * Keeps what an unfinished event has so far. Copied, because the chunk goes on to the client and is not ours to keep.
 * Of an event beyond the limit only that its line has begun.
 */
function keep(line: Line, event: UnderWay, rest: Uint8Array, position: number): void {
  if (rest.byteLength > 0) line.parts.push(new Uint8Array(rest));
  if (line.parts.length >= PARTS_MAX) line.parts = [Buffer.concat(line.parts)];
  const fresh = event.data.splice(event.owned).map((value) => new Uint8Array(value));
  event.data.push(...fresh);
  event.owned = event.data.length;
  event.start ??= fieldStart(line);
  if (position - (event.start ?? line.start) <= EVENT_BYTES_MAX) return;
  Object.assign(event, { data: [], owned: 0 });
  line.parts = line.parts.slice(0, 1).map((part) => part.slice(0, 1));
}

function joined(lines: readonly Uint8Array[]): Uint8Array {
  const [only] = lines;
  if (only && lines.length === 1) return only;
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Uint8Array.of(LF), line])));
}
