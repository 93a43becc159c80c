import type { Reading, StreamReader } from "../reading.ts";
import { type SseEvent, sseSplitter } from "./sse.ts";

/** Watches one stream on its way to the client. */
export type Meter = {
  /**
   * Looks at a chunk and says what of the stream goes on to the client now: usually the very same array. Null when
   * nothing does.
   */
  watch(chunk: Uint8Array): Uint8Array | null;
  /** To be called once when the stream has ended: reads what it broke off in, and gives what was still held. */
  rest(): Uint8Array | null;
  contentSeen(): boolean;
  terminalSeen(): boolean;
  reading(complete: boolean): Reading;
};

/** What a meter needs of a wire (providers/wires.ts). */
type StreamWire<Facts> = {
  openStream(facts: Facts): StreamReader;
  mayBeUsageOnly(data: Uint8Array): boolean;
};

/** A larger event is not the usage chunk, so never more than this is held. */
const USAGE_EVENT_BYTES_MAX = 16 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const NOTHING = new Uint8Array();

/**
 * The meter of a stream. With `withholdUsage` the events that hold nothing but usage, which exist because the gateway
 * asked for them, are cut out; every other byte goes on unchanged.
 *
 * To cut an event out, its beginning must not have gone on before its end is known. So an unfinished event is held as
 * long as it may still become one with nothing but usage, which the first bytes of a delta rule out. No client waits
 * for it: an SSE reader acts on an event only when it is whole. Without `withholdUsage` nothing is ever held.
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
    reading: (complete) => reader.reading(complete),
  };
}

type Flow = Pick<Meter, "watch" | "rest">;

function passing(reader: StreamReader): Flow {
  const splitter = sseSplitter();
  const take = ({ data }: SseEvent) => void reader.event(data);
  return {
    watch(chunk) {
      splitter.read(chunk, reader.seek(chunk), take);
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
  /** Bytes seen and not yet let go, and the offset of the first of them in the stream. */
  let held: Uint8Array = NOTHING;
  let offset = 0;
  /** Start of an event under way that is let go as it comes. */
  let letGo = -1;
  /** A withheld event ended in a CR; an LF that comes next belongs to it. */
  let cutLf = false;

  const isWithheld = (event: SseEvent): boolean =>
    reader.event(event.data) && event.end - event.start <= USAGE_EVENT_BYTES_MAX;

  /** Offset up to which nothing is undecided. */
  const decidedUntil = (end: number): number => {
    const pending = splitter.pending();
    if (!pending || pending.start === letGo) return end;
    if (pending.size <= USAGE_EVENT_BYTES_MAX && wire.mayBeUsageOnly(pending.data())) return pending.start;
    letGo = pending.start;
    return end;
  };

  /** Where the event stands in `source`, an LF after its last CR included. */
  const cutOf = (event: SseEvent, source: Uint8Array): Cut => {
    const [from, to] = [event.start - offset, event.end - offset];
    if (source[to - 1] !== CR) return [from, to];
    cutLf = to === source.byteLength;
    return [from, source[to] === LF ? to + 1 : to];
  };

  return {
    watch(chunk) {
      if (chunk.byteLength === 0) return null;
      const source = held.byteLength === 0 ? chunk : Buffer.concat([held, chunk]);
      const cuts: Cut[] = cutLf && chunk[0] === LF ? [[0, 1]] : [];
      cutLf = false;
      splitter.read(chunk, reader.seek(chunk), (event) => {
        if (isWithheld(event)) cuts.push(cutOf(event, source));
      });
      const until = decidedUntil(offset + source.byteLength) - offset;
      held = until === source.byteLength ? NOTHING : new Uint8Array(source.subarray(until));
      offset += until;
      return without(source, cuts, until);
    },
    rest() {
      const last = splitter.end();
      const left = last && isWithheld(last) ? NOTHING : held;
      held = NOTHING;
      return left.byteLength > 0 ? left : null;
    },
  };
}

type Cut = [from: number, to: number];

/** The first `until` bytes without the cuts; the very array where nothing is cut, null where nothing is left. */
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

/** The meter of an answer that is passed through unread; `reading` is what was known before. */
export const opaqueMeter = (reading: Reading): Meter => ({
  watch: (chunk) => chunk,
  rest: () => null,
  contentSeen: () => false,
  terminalSeen: () => false,
  reading: () => reading,
});
