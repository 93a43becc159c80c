import type { Seek } from "../reading.ts";
import {
  COLON,
  CR,
  fieldStart,
  LF,
  lineBreaks,
  mayBecomeBom,
  NOTHING,
  type SseLine,
  valueOfData,
  wholeLine,
} from "./sse-line.ts";

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
  /**
   * Gives `take` the events that end in this chunk, but may pass over those within it before the place that `seek`
   * names. It is called again after each event.
   */
  read(chunk: Uint8Array, seek: Seek, take: (event: SseEvent) => void): void;
  /** The event that the stream broke off in, as if it had ended there; null when it has no data. */
  end(): SseEvent | null;
  pending(): Pending | null;
};

/** Of `data`, the first `owned` lines are copies of our own. */
type UnderWay = { start: number | null; data: Uint8Array[]; owned: number };

/** An event larger than this is passed over: it is not read, and costs no more memory than this. */
export const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/** Pieces kept apart before they are joined: many tiny ones would cost far more memory than their bytes. */
const PARTS_MAX = 1024;

/**
 * Splits a byte stream into events, wherever its chunks are cut: LF, CR and CR LF, a BOM, comments and several data
 * lines, as the HTML standard interprets an event stream. Fields other than `data` are passed over.
 */
export function sseSplitter(): SseSplitter {
  const state: State = { position: 0, afterCr: false, line: { start: 0, parts: [] }, event: begun() };
  return {
    push(chunk) {
      const events: SseEvent[] = [];
      readChunk(state, { chunk, seek: EVERY, take: (event) => void events.push(event) });
      return events;
    },
    read: (chunk, seek, take) => readChunk(state, { chunk, seek, take }),
    end() {
      const { bytes, start } = wholeLine(state.line, NOTHING);
      if (bytes.byteLength > 0 && bytes[0] !== COLON) addField(state.event, bytes, start);
      const ended = state.event;
      state.line = { start: state.position, parts: [] };
      state.event = begun();
      return eventOf(ended, state.position);
    },
    pending() {
      if (isBetweenEvents(state)) return null;
      const { position, line, event } = state;
      const start = event.start ?? (mayBecomeBom(line) ? line.start : null);
      if (start === null) return null;
      return { start, size: position - start, data: () => joined([...event.data, ...lastOf(line)]) };
    },
  };
}

type State = {
  /** Offset of the next byte to come. */
  position: number;
  /** The last byte was a CR, so an LF that comes next belongs to it. */
  afterCr: boolean;
  line: SseLine;
  event: UnderWay;
};

const isBetweenEvents = ({ event, line }: State): boolean => event.start === null && line.parts.length === 0;

type Visit = { chunk: Uint8Array; seek: Seek; take: (event: SseEvent) => void };

/** Up to `searched` the chunk was looked through for ends of events. */
type Pass = Visit & { searched: number };

function readChunk(state: State, visit: Visit): void {
  const pass: Pass = { ...visit, searched: 0 };
  const { chunk } = pass;
  let from = 0;
  if (state.afterCr && chunk.byteLength > 0) {
    from = pastLf(state, chunk, from);
    state.afterCr = false;
  }
  from = leap(state, pass, from);
  if (from < chunk.byteLength) from = readLines(state, pass, from);
  state.position += chunk.byteLength;
  if (from < chunk.byteLength || !isBetweenEvents(state)) keep(state, chunk.subarray(from));
}

/** Reads the lines that end in the chunk; gives where the next one begins. */
function readLines(state: State, pass: Pass, start: number): number {
  const { chunk, take } = pass;
  const next = lineBreaks(chunk, start);
  let from = start;
  for (let at = next(from); at !== -1; at = next(from)) {
    const rest = from === at ? NOTHING : chunk.subarray(from, at);
    const ended = endLine(state, rest, state.position + at + 1);
    if (ended) take(ended);
    from = leap(state, pass, pastBreak(state, chunk, at));
  }
  return from;
}

function endLine(state: State, rest: Uint8Array, end: number): SseEvent | null {
  const { bytes, start } = wholeLine(state.line, rest);
  state.line = { start: end, parts: [] };
  if (bytes.byteLength > 0) {
    if (bytes[0] !== COLON) addField(state.event, bytes, start);
    return null;
  }
  const ended = state.event;
  state.event = begun();
  return eventOf(ended, end);
}

/** Past the line break at `at`, of which the LF after a CR may be in the next chunk. */
function pastBreak(state: State, chunk: Uint8Array, at: number): number {
  const from = at + 1;
  if (chunk[at] !== CR) return from;
  state.afterCr = from === chunk.byteLength;
  return pastLf(state, chunk, from);
}

function pastLf({ line }: State, chunk: Uint8Array, from: number): number {
  if (chunk[from] !== LF) return from;
  line.start += 1;
  return from + 1;
}

/** Between two events: past those before the next place that is sought. */
function leap(state: State, pass: Pass, from: number): number {
  if (!isBetweenEvents(state)) return from;
  const to = lastEventEnd(pass, from, pass.seek(from));
  state.line.start = state.position + to;
  return to;
}

const EVERY: Seek = (from) => from;

/**
 * Where the last of the events that end at or before `until` ends, as two line feeds show whatever else the stream ends
 * its lines with; `from` where none does. No part of a chunk is searched twice: behind the end that a search found there
 * is none up to where it began.
 */
function lastEventEnd(pass: Pass, from: number, until: number): number {
  const { chunk, searched } = pass;
  const first = Math.max(from + 2, searched + 1);
  pass.searched = Math.max(searched, until);
  for (let end = until; end >= first; end -= 1) {
    if (chunk[end - 1] === LF && chunk[end - 2] === LF) return end;
  }
  return from;
}

const begun = (): UnderWay => ({ start: null, data: [], owned: 0 });

/** The value of the line under way, when it is a `data` line. */
function lastOf(line: SseLine): Uint8Array[] {
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

function eventOf({ start, data }: UnderWay, end: number): SseEvent | null {
  if (start === null || data.length === 0 || end - start > EVENT_BYTES_MAX) return null;
  return { data: joined(data), start, end };
}

/**
 * Keeps what an unfinished event has so far. Copied, because the chunk goes on to the client and is not ours to keep.
 * Of an event beyond the limit only that its line has begun.
 */
function keep({ line, event, position }: State, rest: Uint8Array): void {
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
