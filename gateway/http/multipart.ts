import { GatewayError } from "../errors.ts";
import { type PartHead, readPartHead } from "./multipart-headers.ts";

/** Events of a multipart body. The concatenated bytes of all events are the body. */
export type MultipartEvent =
  /** Delimiters and part heads. */
  | { kind: "frame"; bytes: Uint8Array }
  | { kind: "part"; part: PartHead }
  /** Content of the current part. */
  | { kind: "content"; bytes: Uint8Array }
  /** The last delimiter. */
  | { kind: "end" };

export type MultipartScanner = {
  /** The events known so far; up to a delimiter's length of bytes is held back until the next push. */
  push(chunk: Uint8Array): MultipartEvent[];
  /** Ends the body. @throws GatewayError invalid_request if its last delimiter is missing. */
  end(): void;
};

const HEAD_BYTES_MAX = 16 * 1024;
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

const refused = (sentence: string) => new GatewayError("invalid_request", `The multipart body ${sentence}`);

const indexOf = (bytes: Uint8Array, needle: Uint8Array, from: number): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(needle, from);

const startsWith = (bytes: Uint8Array, beginning: Uint8Array): boolean =>
  beginning.every((byte, at) => bytes[at] === byte);

const BLANK_LINE = Buffer.from("\r\n\r\n");

type PhaseName = "start" | "after" | "head" | "content" | "over";

type Scan = {
  phase: PhaseName;
  events: MultipartEvent[];
  /** CR LF, two dashes, the boundary; then the same without CR, and without CR LF. */
  delimiter: Uint8Array;
  bareDelimiter: Uint8Array;
  firstDelimiter: Uint8Array;
};

/** The offset a phase reached, and whether it needs more bytes. */
type Step = { at: number; waits: boolean };
type Phase = (scan: Scan, data: Uint8Array, at: number) => Step;

function put({ events }: Scan, kind: "frame" | "content", bytes: Uint8Array): void {
  if (bytes.byteLength > 0) events.push({ kind, bytes });
}

const atStart: Phase = (scan, data, at) => {
  const { firstDelimiter } = scan;
  const seen = data.subarray(at, at + firstDelimiter.length);
  if (!startsWith(firstDelimiter, seen)) throw refused("does not begin with its boundary.");
  if (seen.length < firstDelimiter.length) return { at, waits: true };
  put(scan, "frame", seen);
  scan.phase = "after";
  return { at: at + firstDelimiter.length, waits: false };
};

const afterDelimiter: Phase = (scan, data, at) => {
  if (data.length < at + 2) return { at, waits: true };
  const isLast = data[at] === DASH && data[at + 1] === DASH;
  const isNext = data[at] === CR && data[at + 1] === LF;
  if (!isLast && !isNext) throw refused("has a boundary that is not the end of a line.");
  put(scan, "frame", data.subarray(at, at + 2));
  if (isLast) scan.events.push({ kind: "end" });
  scan.phase = isLast ? "over" : "head";
  return { at: at + 2, waits: false };
};

const inHead: Phase = (scan, data, at) => {
  const end = indexOf(data, BLANK_LINE, at);
  if ((end < 0 ? data.length : end) - at > HEAD_BYTES_MAX) throw refused("has too long a head of a part.");
  if (end < 0) return { at, waits: true };
  const part = readPartHead(data.subarray(at, end));
  put(scan, "frame", data.subarray(at, end + BLANK_LINE.length));
  scan.events.push({ kind: "part", part });
  scan.phase = "content";
  return { at: end + BLANK_LINE.length, waits: false };
};

const inContent: Phase = (scan, data, at) => {
  const { bareDelimiter } = scan;
  const found = indexOf(data, bareDelimiter, at);
  if (found < 0) {
    const end = pendingFrom(scan, data, at);
    put(scan, "content", data.subarray(at, end));
    return { at: end, waits: true };
  }
  // A parser that accepts a bare LF as a line break would see another part here.
  if (found === at || data[found - 1] !== CR) throw refused("has a boundary after a bare line feed.");
  put(scan, "content", data.subarray(at, found - 1));
  put(scan, "frame", data.subarray(found - 1, found + bareDelimiter.length));
  scan.phase = "after";
  return { at: found + bareDelimiter.length, waits: false };
};

/** Offset from which the bytes may be the start of a delimiter, or of one after a bare line feed. */
function pendingFrom({ delimiter, bareDelimiter }: Scan, data: Uint8Array, from: number): number {
  for (let at = Math.max(from, data.length - delimiter.length + 1); at < data.length; at++) {
    const begins = data[at] === CR ? delimiter : data[at] === LF ? bareDelimiter : null;
    if (begins && startsWith(begins, data.subarray(at))) return at;
  }
  return data.length;
}

const whenOver: Phase = (scan, data, at) => {
  const rest = data.subarray(at);
  if (!rest.every((byte) => byte === CR || byte === LF)) throw refused("continues after its end.");
  put(scan, "frame", rest);
  return { at: data.length, waits: true };
};

const PHASES = {
  start: atStart,
  after: afterDelimiter,
  head: inHead,
  content: inContent,
  over: whenOver,
} as const satisfies Record<PhaseName, Phase>;

/**
 * A streaming parser for `multipart/form-data` (RFC 7578), as strict as real clients allow: no preamble, no padding, no
 * line break but CR LF, nothing after the end. `push` and `end` throw GatewayError invalid_request, which never quotes
 * the body.
 */
export function multipartScanner(boundary: string): MultipartScanner {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const scan: Scan = {
    phase: "start",
    events: [],
    delimiter,
    bareDelimiter: delimiter.subarray(1),
    firstDelimiter: delimiter.subarray(2),
  };
  let pending: Uint8Array = new Uint8Array(0);
  return {
    push(chunk) {
      const data = pending.byteLength === 0 ? chunk : Buffer.concat([pending, chunk]);
      scan.events = [];
      let step: Step = { at: 0, waits: false };
      while (!step.waits) step = PHASES[scan.phase](scan, data, step.at);
      pending = data.slice(step.at);
      return scan.events;
    },
    end() {
      if (scan.phase !== "over") throw refused("ends before its last boundary.");
    },
  };
}
