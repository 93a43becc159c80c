/** FNV-1a over UTF-16 code units: fast, well spread for short strings, the same on every machine. */
const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

/** Hash of a text, an unsigned 32-bit integer, never 0. Of a word it is a feature, and the key of the word vectors. */
export function hashWord(text: string, start = 0, end = text.length): number {
  let hash = Math.imul(BASIS ^ 1, PRIME);
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return finish(hash);
}

/** Hash of a text within a family: it differs between families. */
export const hashOf = (family: number, text: string): number => hashPair(hashWord(text), family);

export const hashPair = (first: number, second: number): number =>
  finish(Math.imul(first ^ (second >>> 15) ^ Math.imul(second, 0x9e3779b1), PRIME));

/** Spreads the low bits (tables are indexed by them) and keeps 0 free: it marks an empty slot. */
function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  return mixed >>> 0 || 1;
}

/** Open addressing: `keys` are hashes (0: an empty slot), `places` their places in the list the table was built from. */
export type HashTable = { keys: Uint32Array; places: Uint32Array };

/** Indexes distinct hashes other than 0. At most two of three slots are used. */
export function hashTableOf(hashes: ArrayLike<number>): HashTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(hashes.length, 8) * 1.5));
  const table = { keys: new Uint32Array(size), places: new Uint32Array(size) };
  for (let place = 0; place < hashes.length; place++) {
    const hash = hashes[place] ?? 0;
    let slot = hash & (size - 1);
    while (table.keys[slot] !== 0) slot = (slot + 1) & (size - 1);
    table.keys[slot] = hash;
    table.places[slot] = place;
  }
  return table;
}

/** The place of a hash; −1 if the table does not have it. */
export function positionOf({ keys, places }: HashTable, hash: number): number {
  const mask = keys.length - 1;
  let slot = hash & mask;
  while (keys[slot] !== hash) {
    if (keys[slot] === 0) return -1;
    slot = (slot + 1) & mask;
  }
  return places[slot] ?? -1;
}
