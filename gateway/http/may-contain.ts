/** Bytes searched at once; a name that this would cut is found because pieces overlap. */
const PIECE = 65_536;
const OVERLAP = 64;

/** Whether a text, as Latin-1, matches a pattern of at most 64 characters. A search is faster than a parse. */
export function mayContain(bytes: Uint8Array, pattern: RegExp): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < text.length; at += PIECE) {
    if (pattern.test(text.toString("latin1", at, at + PIECE + OVERLAP))) return true;
  }
  return false;
}
