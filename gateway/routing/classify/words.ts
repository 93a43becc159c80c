import { hashWord } from "./hashing.ts";
import packed from "./words.txt" with { type: "text" };

/** Numbers that say what a word means: words used alike have like ones. */
export const DIMENSIONS = 100;
/** How fast frequent words fade: a word this frequent counts half (Arora, Liang and Ma, ICLR 2017). */
const FADING = 1e-3;
/** A word's frequency by its rank, after Zipf and Mandelbrot. */
const frequencyOf = (rank: number) => 0.06 / (rank + 2.7);

type Words = {
  keys: Uint32Array;
  rows: Uint16Array;
  numbers: Int8Array;
  scale: Float32Array;
  /** Where each word begins in the packed text; one more for the end. */
  starts: Uint32Array;
};

function unpack(): Words {
  const end = packed.indexOf("\n");
  const words = packed.slice(0, end).split(" ");
  const numbers = new Int8Array(Uint8Array.fromBase64(packed.slice(end + 1).trim()).buffer);
  const slots = 2 ** Math.ceil(Math.log2(words.length * 2));
  const found: Words = {
    keys: new Uint32Array(slots),
    rows: new Uint16Array(slots),
    numbers,
    scale: new Float32Array(words.length),
    starts: new Uint32Array(words.length + 1),
  };
  for (const [row, word] of words.entries()) {
    found.starts[row + 1] = (found.starts[row] ?? 0) + word.length + 1;
    const hash = hashWord(word, 0, word.length);
    let slot = hash & (slots - 1);
    while (found.keys[slot] !== 0) slot = (slot + 1) & (slots - 1);
    found.keys[slot] = hash;
    found.rows[slot] = row;
    let square = 0;
    for (let at = 0; at < DIMENSIONS; at++) square += (numbers[row * DIMENSIONS + at] ?? 0) ** 2;
    found.scale[row] = FADING / (FADING + frequencyOf(row)) / Math.sqrt(square || 1);
  }
  return found;
}

const WORDS = unpack();

/** How many of the known words are more frequent than this one, by its hash; −1 where it is not known. */
export function rankOf(hash: number): number {
  const { keys, rows } = WORDS;
  const mask = keys.length - 1;
  let slot = hash & mask;
  while (keys[slot] !== hash) {
    if (keys[slot] === 0) return -1;
    slot = (slot + 1) & mask;
  }
  return rows[slot] as number;
}

/** The known word of that rank. */
export const wordAt = (rank: number): string =>
  packed.slice(WORDS.starts[rank], (WORDS.starts[rank + 1] ?? 0) - 1);

/** Adds what a word means, by its hash, to a sum; frequent words add little, unknown ones nothing. */
export function addMeaning(hash: number, sum: Float32Array): void {
  const { numbers, scale } = WORDS;
  const row = rankOf(hash);
  if (row < 0) return;
  const share = scale[row] as number;
  const base = row * DIMENSIONS;
  for (let at = 0; at < DIMENSIONS; at++) {
    sum[at] = (sum[at] as number) + share * (numbers[base + at] as number);
  }
}

/** Scales a sum of meanings to length 1, in place; a sum of none stays 0. */
export function settleMeaning(sum: Float32Array): Float32Array {
  let square = 0;
  for (let at = 0; at < sum.length; at++) square += (sum[at] as number) * (sum[at] as number);
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) * scale;
  return sum;
}
