/** FNV-1a over UTF-16 code units: fast, well spread for short strings, the same on every machine. */
const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

/** Hash of a text within a family, an unsigned 32-bit integer, never 0. A text has another hash in each family. */
export function hashOf(family: number, text: string): number {
  let hash = Math.imul(BASIS ^ (family + 1), PRIME);
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return finish(hash);
}

/** Hash of a word, as a feature of the instruction zone and as a key of the word vectors. */
export const hashWord = (word: string): number => hashOf(0, word);

/** Hash of an ordered pair. */
export const hashPair = (first: number, second: number): number =>
  finish(Math.imul(first ^ (second >>> 15) ^ Math.imul(second, 0x9e3779b1), PRIME));

/** Spreads the low bits (tables are indexed by them) and keeps 0 free: it marks an empty slot. */
function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  return mixed >>> 0 || 1;
}
