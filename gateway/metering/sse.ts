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
 * One event of an SSE stream: its joined data lines and its stream offsets. `start` is that of its first field line
 * (comments before it do not count), `end` the one after the line break that ends it. If that is CR LF, `end` is after
 * the CR, because the LF may not have arrived yet.
 */
export type SseEvent = { data: Uint8Array; start: number; end: number };

/** The unfinished event: its offset, its size so far, and its data so far. */
type Pending = { start: number; size: number; data(): Uint8Array };

type SseSplitter = {
  /** Returns the events that end in this chunk. */
  push(chunk: Uint8Array): SseEvent[];
  /** The event in which the stream broke off, as if complete; null if it has no data. */
  end(): SseEvent | null;
  pending(): Pending | null;
};

/** The first `owned` lines of `data` are copies; the rest are views of a chunk. */
type Unfinished = { start: number | null; data: Uint8Array[]; owned: number };

/** Larger events are skipped, so this bounds memory. */
export const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/** Parts to collect before joining them: many tiny arrays would cost far more memory than their bytes. */
const PARTS_MAX = 1024;

/**
 * Splits a byte stream into events as the HTML standard interprets an event stream, wherever chunks are cut: LF, CR
 * and CR LF, a BOM, comments, several data lines. Fields other than `data` are ignored.
 */
export function sseSplitter(): SseSplitter {
  const state: State = { position: 0, afterCr: false, line: { start: 0, parts: [] }, event: newEvent() };
  return {
    push: (chunk) => readChunk(state, chunk),
    end() {
      const { bytes, start } = wholeLine(state.line, NOTHING);
      if (bytes.byteLength > 0 && bytes[0] !== COLON) addField(state.event, bytes, start);
      const ended = state.event;
      state.line = { start: state.position, parts: [] };
      state.event = newEvent();
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

/** Puts other bytes in place of each event's data, and some at the end. */
export function sseMapped(
  partsOf: (data: Uint8Array) => readonly Uint8Array[],
  atEnd: () => readonly Uint8Array[] = () => [],
): TransformStream<Uint8Array, Uint8Array> {
  const splitter = sseSplitter();
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const { data } of splitter.push(chunk)) {
        for (const part of partsOf(data)) controller.enqueue(part);
      }
    },
    flush(controller) {
      const last = splitter.end();
      for (const part of [...(last ? partsOf(last.data) : []), ...atEnd()]) controller.enqueue(part);
    },
  });
}

type State = {
  /** Offset of the next byte. */
  position: number;
  /** The last byte was a CR, so if an LF comes next, it is part of the same line break. */
  afterCr: boolean;
  line: SseLine;
  event: Unfinished;
};

const isBetweenEvents = ({ event, line }: State): boolean => event.start === null && line.parts.length === 0;

function readChunk(state: State, chunk: Uint8Array): SseEvent[] {
  const events: SseEvent[] = [];
  let from = 0;
  if (state.afterCr && chunk.byteLength > 0) {
    from = pastLf(state, chunk, from);
    state.afterCr = false;
  }
  const next = lineBreaks(chunk, from);
  for (let at = next(from); at !== -1; at = next(from)) {
    const rest = from === at ? NOTHING : chunk.subarray(from, at);
    const ended = endLine(state, rest, state.position + at + 1);
    if (ended) events.push(ended);
    from = pastBreak(state, chunk, at);
  }
  state.position += chunk.byteLength;
  if (from < chunk.byteLength || !isBetweenEvents(state)) keep(state, chunk.subarray(from));
  return events;
}

function endLine(state: State, rest: Uint8Array, end: number): SseEvent | null {
  const { bytes, start } = wholeLine(state.line, rest);
  state.line = { start: end, parts: [] };
  if (bytes.byteLength > 0) {
    if (bytes[0] !== COLON) addField(state.event, bytes, start);
    return null;
  }
  const ended = state.event;
  state.event = newEvent();
  return eventOf(ended, end);
}

/** Offset after the line break at `at`; the LF of a CR LF may be in the next chunk. */
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

const newEvent = (): Unfinished => ({ start: null, data: [], owned: 0 });

/** The value of the unfinished line if it is a `data` line. */
function lastOf(line: SseLine): Uint8Array[] {
  const value = valueOfData(wholeLine(line, NOTHING).bytes);
  return value ? [value] : [];
}

function addField(event: Unfinished, line: Uint8Array, start: number): void {
  event.start ??= start;
  const value = valueOfData(line);
  if (value) event.data.push(value);
  if (event.data.length < PARTS_MAX) return;
  event.data = [joined(event.data)];
  event.owned = 1;
}

function eventOf({ start, data }: Unfinished, end: number): SseEvent | null {
  if (start === null || data.length === 0 || end - start > EVENT_BYTES_MAX) return null;
  return { data: joined(data), start, end };
}

/** Keeps copies of an unfinished event's parts, as the chunk goes to the client; over the limit, only that it began. */
function keep({ line, event, position }: State, rest: Uint8Array): void {
  if (rest.byteLength > 0) line.parts.push(new Uint8Array(rest));
  if (line.parts.length >= PARTS_MAX) line.parts = [Buffer.concat(line.parts)];
  const copies = event.data.splice(event.owned).map((value) => new Uint8Array(value));
  event.data.push(...copies);
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
