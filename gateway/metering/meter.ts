import type { Reading, StreamReader } from "../reading.ts";
import { type SseEvent, sseSplitter } from "./sse.ts";
import { CR, LF, NOTHING } from "./sse-line.ts";

/** Meters one stream on its way to the client. */
export type Meter = {
  /** Reads a chunk and returns the bytes to forward now, usually the same array; null for none. */
  watch(chunk: Uint8Array): Uint8Array | null;
  /** Call once at the end of the stream: reads an unfinished event and returns the bytes still withheld. */
  rest(): Uint8Array | null;
  contentSeen(): boolean;
  terminalSeen(): boolean;
  /** Nothing but the last event is missing. */
  allSeen(): boolean;
  reading(complete: boolean): Reading;
};

/** The part of a wire (providers/wires.ts) that a meter needs. */
type StreamWire<Facts> = {
  openStream(facts: Facts): StreamReader;
  mayBeUsageOnly(data: Uint8Array): boolean;
};

/** A larger event cannot be the usage chunk, so no more than this is ever withheld. */
const USAGE_EVENT_BYTES_MAX = 16 * 1024;

/**
 * The meter of a stream. With `withholdUsage`, usage-only events, which exist because the gateway requested them, are
 * cut out; all other bytes pass unchanged.
 *
 * To cut an event out, none of it may be forwarded before its end is known. So an unfinished event is withheld while it
 * may still turn out to be usage-only, which the first bytes of a delta rule out. This delays no client: an SSE parser
 * dispatches an event only when it is complete. Without `withholdUsage` nothing is withheld.
 */
export function streamMeter<Facts>(
  wire: StreamWire<Facts>,
  facts: Facts,
  options: { withholdUsage: boolean },
): Meter {
  const reader = wire.openStream(facts);
  const flow = options.withholdUsage ? withholding(wire, reader) : passing(reader);
  return {
    ...flow,
    contentSeen: () => reader.progress.contentSeen,
    terminalSeen: () => reader.progress.terminalSeen,
    allSeen: () => reader.progress.allSeen === true,
    reading: (complete) => reader.reading(complete),
  };
}

type Flow = Pick<Meter, "watch" | "rest">;

function passing(reader: StreamReader): Flow {
  const splitter = sseSplitter();
  return {
    watch(chunk) {
      for (const { data } of splitter.push(chunk)) reader.event(data);
      return chunk;
    },
    rest() {
      const last = splitter.end();
      if (last) reader.event(last.data);
      return null;
    },
  };
}

function withholding(wire: StreamWire<never>, reader: StreamReader): Flow {
  const splitter = sseSplitter();
  /** Bytes read but not yet forwarded, and the stream offset of the first. */
  let withheld: Uint8Array = NOTHING;
  let offset = 0;
  /** Start of an unfinished event that is known not to be usage-only, so it is forwarded as it arrives. */
  let released = -1;
  /** A withheld event ended with a CR; if an LF comes next, it is part of the event. */
  let cutLf = false;

  const isWithheld = (event: SseEvent): boolean =>
    reader.event(event.data) && event.end - event.start <= USAGE_EVENT_BYTES_MAX;

  /** Offset up to which bytes may be forwarded or cut. */
  const decidedUntil = (end: number): number => {
    const pending = splitter.pending();
    if (!pending || pending.start === released) return end;
    if (pending.size <= USAGE_EVENT_BYTES_MAX && wire.mayBeUsageOnly(pending.data())) return pending.start;
    released = pending.start;
    return end;
  };

  /** The event's range in `source`, including an LF after its last CR. */
  const cutOf = (event: SseEvent, source: Uint8Array): Cut => {
    const [from, to] = [event.start - offset, event.end - offset];
    if (source[to - 1] !== CR) return [from, to];
    cutLf = to === source.byteLength;
    return [from, source[to] === LF ? to + 1 : to];
  };

  return {
    watch(chunk) {
      if (chunk.byteLength === 0) return null;
      const source = withheld.byteLength === 0 ? chunk : Buffer.concat([withheld, chunk]);
      const cuts: Cut[] = cutLf && chunk[0] === LF ? [[0, 1]] : [];
      cutLf = false;
      for (const event of splitter.push(chunk)) if (isWithheld(event)) cuts.push(cutOf(event, source));
      const until = decidedUntil(offset + source.byteLength) - offset;
      withheld = until === source.byteLength ? NOTHING : new Uint8Array(source.subarray(until));
      offset += until;
      return without(source, cuts, until);
    },
    rest() {
      const last = splitter.end();
      const remaining = last && isWithheld(last) ? NOTHING : withheld;
      withheld = NOTHING;
      return remaining.byteLength > 0 ? remaining : null;
    },
  };
}

type Cut = [from: number, to: number];

/** The first `until` bytes without the cuts: the same array if nothing is cut, null if nothing is left. */
function without(source: Uint8Array, cuts: readonly Cut[], until: number): Uint8Array | null {
  if (cuts.length === 0 && until === source.byteLength) return until > 0 ? source : null;
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const [start, end] of [...cuts, [until, until]] as const) {
    if (start > from) parts.push(source.subarray(from, start));
    from = end;
  }
  return parts.length > 0 ? Buffer.concat(parts) : null;
}

/** What a meter that looks for nothing on the way has in common with others. */
export const UNWATCHED = {
  watch: (chunk: Uint8Array) => chunk,
  rest: () => null,
  contentSeen: () => false,
  terminalSeen: () => false,
  allSeen: () => false,
} as const satisfies Omit<Meter, "reading">;

/** The meter of an answer that passes through unread; `reading` is known beforehand. */
export const opaqueMeter = (reading: Reading): Meter => ({ ...UNWATCHED, reading: () => reading });
