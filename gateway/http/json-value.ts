import type { Member } from "../call.ts";

// `ignoreBOM` keeps U+FEFF at the start of a text, because a key may start with it.
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  UTF8.decode(bytes.subarray(start, end));

/** The string whose quotes are at `start` and before `end`, without its escapes. */
export function nameAt(bytes: Uint8Array, start: number, end: number): string {
  const text = textOf(bytes, start, end);
  return text.includes("\\") ? String(JSON.parse(text)) : text.slice(1, -1);
}

/** The value of a member in a body that was scanned. */
export const valueAt = (bytes: Uint8Array, { valueStart, valueEnd }: Member): unknown =>
  JSON.parse(textOf(bytes, valueStart, valueEnd));
