import type { Member } from "../call.ts";

// `ignoreBOM` keeps U+FEFF at the start of a text, because a key may start with it.
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  UTF8.decode(bytes.subarray(start, end));

const BACKSLASH = 0x5c;
/** Up to this length a plain name is put together faster than it is decoded (test/bench/scan.ts). */
const SHORT_MAX = 32;

/** A short name in ASCII without escapes, as nearly all are; null for others. */
function plainName(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start > SHORT_MAX) return null;
  let name = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? BACKSLASH;
    if (byte >= 0x80 || byte === BACKSLASH) return null;
    name += String.fromCharCode(byte);
  }
  return name;
}

/** The string whose quotes are at `start` and before `end`, without its escapes. */
export function nameAt(bytes: Uint8Array, start: number, end: number): string {
  const plain = plainName(bytes, start + 1, end - 1);
  if (plain !== null) return plain;
  const text = textOf(bytes, start, end);
  return text.includes("\\") ? String(JSON.parse(text)) : text.slice(1, -1);
}

/** The value of a member in a body that was scanned. */
export const valueAt = (bytes: Uint8Array, { valueStart, valueEnd }: Member): unknown =>
  JSON.parse(textOf(bytes, valueStart, valueEnd));
