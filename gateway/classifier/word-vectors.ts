import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type HashTable, hashTableOf, hashWord, positionOf } from "./hashing.ts";

/** Not a module: those are read at every start. */
const PACKED = join(import.meta.dir, "words.txt");

/** Length of a word vector: words that are used alike have similar ones. */
export const VECTOR_LENGTH = 100;
/** A word this frequent counts half (smooth inverse frequency: Arora, Liang and Ma, ICLR 2017). */
const HALF_WEIGHT_FREQUENCY = 1e-3;
/** A word's frequency by its rank, after Zipf and Mandelbrot. */
const frequencyOf = (rank: number) => 0.06 / (rank + 2.7);

type Words = { ranks: HashTable; numbers: Int8Array; scales: Float32Array };
let loaded: Words | null = null;

/** Loads the words, which takes some 100 ms, unless they are loaded: a gateway without a choice of routes needs none. */
export function wordVectors(): Words {
  loaded ??= load();
  return loaded;
}

function load(): Words {
  const [words, numbers] = unpack();
  const scales = new Float32Array(words.length);
  for (let rank = 0; rank < words.length; rank++) {
    let squares = 0;
    for (let at = rank * VECTOR_LENGTH; at < (rank + 1) * VECTOR_LENGTH; at++)
      squares += (numbers[at] ?? 0) ** 2;
    const weight = HALF_WEIGHT_FREQUENCY / (HALF_WEIGHT_FREQUENCY + frequencyOf(rank));
    scales[rank] = weight / Math.sqrt(squares || 1);
  }
  return { ranks: hashTableOf(words.map((word) => hashWord(word))), numbers, scales };
}

/** The first line of the file is the words, most frequent first; the second is their vectors as bytes in base64. */
function unpack(): [string[], Int8Array] {
  const packed = readFileSync(PACKED, "utf8");
  const end = packed.indexOf("\n");
  const bytes = Uint8Array.fromBase64(packed.slice(end + 1).trim());
  return [packed.slice(0, end).split(" "), new Int8Array(bytes.buffer)];
}

/** How many known words are more frequent than the word of this hash; −1 if it is unknown. */
export const rankOf = (hash: number): number => positionOf(wordVectors().ranks, hash);

/** Adds a word's vector, by the word's hash, to a sum. Frequent words add little, unknown ones nothing. */
export function addWordVector(hash: number, sum: Float32Array): void {
  const { ranks, numbers, scales } = wordVectors();
  const rank = positionOf(ranks, hash);
  if (rank < 0) return;
  const scale = scales[rank] ?? 0;
  const base = rank * VECTOR_LENGTH;
  for (let at = 0; at < VECTOR_LENGTH; at++) sum[at] = (sum[at] ?? 0) + scale * (numbers[base + at] ?? 0);
}

/** Scales a vector to length 1, in place; a zero vector stays zero. */
export function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
