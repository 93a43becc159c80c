import type { Seek } from "../reading.ts";

/** An ASCII text to search for, encoded once: a string would be encoded on every search. */
export type Needle = Buffer;

export const needle = (text: string): Needle => Buffer.from(text, "latin1");

// Without a Buffer over the bytes, which costs more than the search of a short event.
const { indexOf } = Buffer.prototype;

/** Offset of the text at or after `from`; -1 if absent. */
export const indexOfBytes = (bytes: Uint8Array, text: Needle, from = 0): number =>
  indexOf.call(bytes, text, from);

/** Whether the bytes contain the text. Far cheaper than parsing them. */
export const includesBytes = (bytes: Uint8Array, text: Needle): boolean => indexOfBytes(bytes, text) !== -1;

/** The offset of the next match at or after `from`; -1 without one. */
export type Search = (bytes: Uint8Array, from: number) => number;

export const searcher =
  (text: Needle): Search =>
  (bytes, from) =>
    indexOfBytes(bytes, text, from);

/** The first match of any search in a chunk. Each search resumes at its last match, so a chunk is scanned once. */
export function seekAny(chunk: Uint8Array, searches: readonly Search[]): Seek {
  const none = chunk.byteLength;
  const found: number[] = [];
  return (from) => {
    let first = none;
    for (const [index, search] of searches.entries()) {
      let at = found[index] ?? -1;
      if (at < from) {
        at = search(chunk, from);
        if (at === -1) at = none;
        found[index] = at;
      }
      if (at < first) first = at;
    }
    return first;
  };
}
