import { BLOCKS, COUNTED_BLOCKS, type Features } from "./features.ts";
import { type HashTable, hashTableOf, positionOf } from "./hashing.ts";
import { TASK_KINDS } from "./kinds.ts";
import type { SparseVector } from "./sparse.ts";
import { type BlockWeights, TUNING } from "./tuning.ts";
import { VECTOR_LENGTH } from "./word-vectors.ts";

/** The features that training has seen; a feature's place in the table is its column. */
export type Vocabulary = {
  table: HashTable;
  /** Inverse document frequency per column. */
  idf: Float32Array;
  /** That of a feature training never saw: it lengthens a text's norm and nothing else. */
  idfUnseen: number;
};

/** Columns of a vector: the vocabulary's, the word vector's, then one per kind of task. */
export const columnsOf = ({ idf }: Vocabulary): number => idf.length + VECTOR_LENGTH + TASK_KINDS.length;

/** Learns the vocabulary of a set of texts. `seenMin` drops features of fewer texts. */
export function learnVocabulary(texts: readonly Features[], seenMin: number): Vocabulary {
  const counts = new Map<number, number>();
  for (const { hashes } of texts) for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  const kept = [...counts].filter(([, count]) => count >= seenMin);
  const idfOf = (count: number) => Math.log((1 + texts.length) / (1 + count)) + 1;
  return {
    table: hashTableOf(kept.map(([hash]) => hash)),
    idf: Float32Array.from(kept, ([, count]) => idfOf(count)),
    idfUnseen: idfOf(0),
  };
}

/** A text's vector. `features[i]` is the feature its i-th entry came from; dense entries, which follow, have none. */
export type TextVector = SparseVector & { features: Int32Array };

type Tfidf = TextVector & { size: number; squares: Float64Array };

/** TF-IDF of the known features, with room for the dense entries, and the squared length of each block. */
function tfidfOf({ hashes, counts, blocks }: Features, { table, idf, idfUnseen }: Vocabulary): Tfidf {
  const room = hashes.length + VECTOR_LENGTH + TASK_KINDS.length;
  const ids = new Int32Array(room);
  const values = new Float32Array(room);
  const features = new Int32Array(hashes.length);
  const squares = new Float64Array(COUNTED_BLOCKS);
  let size = 0;
  for (let at = 0; at < hashes.length; at++) {
    const column = positionOf(table, hashes[at] ?? 0);
    const block = blocks[at] ?? 0;
    const count = counts[at] ?? 1;
    const value = (count === 1 ? 1 : 1 + Math.log(count)) * (idf[column] ?? idfUnseen);
    squares[block] = (squares[block] ?? 0) + (column < 0 ? TUNING.unseenShare : 1) * value * value;
    if (column < 0) continue;
    ids[size] = column;
    values[size] = value;
    features[size] = at;
    size++;
  }
  return { ids, values, features: features.subarray(0, size), size, squares };
}

/** A text as a vector: TF-IDF, each block scaled to length 1 times its weight. `kinds` are the scores per kind of task. */
export function vectorOf(
  { features, kinds }: { features: Features; kinds: ArrayLike<number> },
  vocabulary: Vocabulary,
  weights: BlockWeights,
): TextVector {
  const counted = tfidfOf(features, vocabulary);
  const { ids, values } = counted;
  const scales = counted.squares.map((square, block) => (weights[block] ?? 0) / Math.sqrt(square || 1));
  for (let at = 0; at < counted.size; at++) {
    const block = features.blocks[counted.features[at] ?? 0] ?? 0;
    values[at] = (values[at] ?? 0) * (scales[block] ?? 0);
  }
  let size = counted.size;
  const append = (first: number, numbers: ArrayLike<number>, weight: number) => {
    for (let at = 0; weight !== 0 && at < numbers.length; at++) {
      if (numbers[at] === 0) continue;
      ids[size] = first + at;
      values[size] = weight * (numbers[at] ?? 0);
      size++;
    }
  };
  append(vocabulary.idf.length, features.meaning, weights[BLOCKS.meaning]);
  append(vocabulary.idf.length + VECTOR_LENGTH, unitLength(kinds), weights[BLOCKS.kinds]);
  return { ids: ids.subarray(0, size), values: values.subarray(0, size), features: counted.features };
}

function unitLength(numbers: ArrayLike<number>): Float64Array {
  const found = Float64Array.from(numbers);
  const length = Math.sqrt(found.reduce((sum, value) => sum + value * value, 0)) || 1;
  return found.map((value) => value / length);
}
