/** FNV-1a over UTF-16 code units: fast, well spread for short strings, the same on every machine. */
const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

export function hashStep(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

/** Starts a hash for one family of features, so that the same word in two families gives two features. */
export function hashSeed(family: number): number {
  return hashStep(BASIS, family + 1);
}

/** Hash of `text[start, end)` within a family, as an unsigned 32-bit integer, never 0. */
export function hashSpan(family: number, text: string, start: number, end: number): number {
  let hash = hashSeed(family);
  for (let at = start; at < end; at++) hash = hashStep(hash, text.charCodeAt(at));
  return finish(hash);
}

/** Hash of a word as the instruction zone and the table of meanings know it. */
export const hashWord = (text: string, start: number, end: number): number => hashSpan(0, text, start, end);

/** The hash of two things in order. */
export function hashPair(first: number, second: number): number {
  return finish(Math.imul(first ^ (second >>> 15) ^ Math.imul(second, 0x9e3779b1), PRIME));
}

/** Spreads the low bits (tables are indexed by them) and keeps 0 free: it marks an empty slot. */
export function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  return mixed >>> 0 || 1;
}
