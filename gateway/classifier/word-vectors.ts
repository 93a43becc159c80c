import { hashTableOf, positionOf } from "./hash-table.ts";
import { hashWord } from "./hashing.ts";
import packed from "./words.txt" with { type: "text" };

/** Length of a word vector: words that are used alike have similar ones. */
export const VECTOR_LENGTH = 100;
/** A word this frequent counts half (smooth inverse frequency: Arora, Liang and Ma, ICLR 2017). */
const HALF_WEIGHT_FREQUENCY = 1e-3;
/** A word's frequency by its rank, after Zipf and Mandelbrot. */
const frequencyOf = (rank: number) => 0.06 / (rank + 2.7);

const [WORDS, NUMBERS] = unpack();
const RANKS = hashTableOf(WORDS.map((word) => hashWord(word)));
const SCALES = Float32Array.from(WORDS, (_, rank) => {
  const vector = NUMBERS.subarray(rank * VECTOR_LENGTH, (rank + 1) * VECTOR_LENGTH);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0) || 1);
  return HALF_WEIGHT_FREQUENCY / (HALF_WEIGHT_FREQUENCY + frequencyOf(rank)) / length;
});

/** The first line of the file is the words, most frequent first; the second is their vectors as bytes in base64. */
function unpack(): [string[], Int8Array] {
  const end = packed.indexOf("\n");
  const bytes = Uint8Array.fromBase64(packed.slice(end + 1).trim());
  return [packed.slice(0, end).split(" "), new Int8Array(bytes.buffer)];
}

/** How many known words are more frequent than the word of this hash; −1 if it is unknown. */
export const rankOf = (hash: number): number => positionOf(RANKS, hash);

/** Adds a word's vector, by the word's hash, to a sum. Frequent words add little, unknown ones nothing. */
export function addWordVector(hash: number, sum: Float32Array): void {
  const rank = rankOf(hash);
  if (rank < 0) return;
  const scale = SCALES[rank] ?? 0;
  const base = rank * VECTOR_LENGTH;
  for (let at = 0; at < VECTOR_LENGTH; at++) sum[at] = (sum[at] ?? 0) + scale * (NUMBERS[base + at] ?? 0);
}

/** Scales a vector to length 1, in place; a zero vector stays zero. */
export function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
