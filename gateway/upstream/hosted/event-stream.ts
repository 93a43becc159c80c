import { crc32 } from "node:zlib";

/** A message of AWS's binary event stream: its string headers and its payload. */
export type BinaryMessage = { headers: ReadonlyMap<string, string>; payload: Uint8Array };

export type FrameSplitter = {
  /** The messages completed by `chunk`. @throws RangeError for invalid bytes. */
  push(chunk: Uint8Array): BinaryMessage[];
  /** Whether an incomplete message is left: then the stream was cut off. */
  partial(): boolean;
};

/** Bytes: two lengths and their checksum; the checksum at the end. */
const PRELUDE = 12;
const TRAILER = 4;
/** AWS limits a message to 16 MiB and its headers to 128 KiB. */
const FRAME_MAX = 16 * 1024 * 1024;

/**
 * Splits a stream of `application/vnd.amazon.eventstream`: total length, headers length, CRC-32 of the two, headers,
 * payload, CRC-32 of everything before (AWS, "event stream encoding").
 */
export function frameSplitter(): FrameSplitter {
  let pending = Buffer.alloc(0);
  return {
    push(chunk) {
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
      const frames: BinaryMessage[] = [];
      for (;;) {
        const length = lengthOf(pending);
        if (length === null || pending.length < length) return frames;
        frames.push(frameOf(pending.subarray(0, length)));
        pending = pending.subarray(length);
      }
    },
    partial: () => pending.length > 0,
  };
}

function lengthOf(bytes: Buffer): number | null {
  if (bytes.length < PRELUDE) return null;
  const length = bytes.readUInt32BE(0);
  const sound = crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8);
  if (!sound || length < PRELUDE + TRAILER || length > FRAME_MAX) throw new RangeError("no event stream");
  return length;
}

function frameOf(bytes: Buffer): BinaryMessage {
  const end = bytes.length - TRAILER;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw new RangeError("a damaged message");
  const payloadAt = PRELUDE + bytes.readUInt32BE(4);
  if (payloadAt > end) throw new RangeError("a damaged message");
  return { headers: headersOf(bytes.subarray(PRELUDE, payloadAt)), payload: bytes.subarray(payloadAt, end) };
}

const TEXT_TYPE = 7;
/** Value sizes by type: true, false, byte, short, integer, long, time, uuid. Bytes and strings are length-prefixed. */
const SIZES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

function headersOf(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(nameEnd);
    const fixed = SIZES[type];
    const valueAt = nameEnd + 1 + (fixed === undefined ? 2 : 0);
    const valueEnd = valueAt + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
    if (type === TEXT_TYPE) {
      headers.set(bytes.toString("utf8", at + 1, nameEnd), bytes.toString("utf8", valueAt, valueEnd));
    }
    at = valueEnd;
  }
  return headers;
}

/** A message of the stream with text headers, such as an event with its payload. */
export function frameOfEvent(headers: Readonly<Record<string, string>>, payload: Uint8Array): Uint8Array {
  const named = Object.entries(headers).flatMap(([name, value]) => {
    const text = Buffer.from(value);
    const head = Buffer.from([name.length, ...Buffer.from(name), TEXT_TYPE, 0, 0]);
    head.writeUInt16BE(text.length, head.length - 2);
    return [head, text];
  });
  const prelude = Buffer.alloc(PRELUDE);
  const headersLength = named.reduce((sum, part) => sum + part.length, 0);
  prelude.writeUInt32BE(PRELUDE + headersLength + payload.length + TRAILER, 0);
  prelude.writeUInt32BE(headersLength, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const frame = Buffer.concat([prelude, ...named, payload, Buffer.alloc(TRAILER)]);
  frame.writeUInt32BE(crc32(frame.subarray(0, -TRAILER)), frame.length - TRAILER);
  return frame;
}
