import { BLOCK_COUNT, type Features } from "./features.ts";

/** Features that training has seen: an open-addressing table from hash to column, and each column's rarity (IDF). */
export type Vocabulary = {
  /** Power of two long; 0 is an empty slot. */
  keys: Uint32Array;
  columns: Int32Array;
  rarity: Float32Array;
  width: number;
  /** Rarity of a feature that training never saw: it lengthens a text's norm and nothing else. */
  rarityUnseen: number;
};

/** How much each block counts: zone, full text, marks of shape, cues, kinds of task. */
export type BlockWeights = readonly [number, number, number, number, number];

function columnOf(vocabulary: Vocabulary, hash: number): number {
  const mask = vocabulary.keys.length - 1;
  let slot = hash & mask;
  for (;;) {
    const key = vocabulary.keys[slot] as number;
    if (key === hash) return vocabulary.columns[slot] as number;
    if (key === 0) return -1;
    slot = (slot + 1) & mask;
  }
}

function tableOf(hashes: readonly number[]): Pick<Vocabulary, "keys" | "columns"> {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(hashes.length, 8) * 2));
  const keys = new Uint32Array(slots);
  const columns = new Int32Array(slots);
  for (const [column, hash] of hashes.entries()) {
    let slot = hash & (slots - 1);
    while (keys[slot] !== 0) slot = (slot + 1) & (slots - 1);
    keys[slot] = hash;
    columns[slot] = column;
  }
  return { keys, columns };
}

/** Learns the features of a set of texts. `seenMin` drops those in fewer texts: they cannot generalise in a large set. */
export function learnVocabulary(texts: readonly Features[], seenMin: number): Vocabulary {
  const seen = new Map<number, number>();
  for (const { hash } of texts) for (const one of hash) seen.set(one, (seen.get(one) ?? 0) + 1);
  const kept = [...seen].filter(([, count]) => count >= seenMin);
  const rarityOf = (count: number) => Math.log((1 + texts.length) / (1 + count)) + 1;
  return {
    ...tableOf(kept.map(([hash]) => hash)),
    rarity: Float32Array.from(kept, ([, count]) => rarityOf(count)),
    width: kept.length,
    rarityUnseen: rarityOf(0),
  };
}

/** Columns and values of one text; `source[i]` is the feature that column i came from. */
export type Vector = { ids: Int32Array; values: Float32Array; source: Int32Array };

const TERM_FREQUENCY = Float64Array.from({ length: 64 }, (_, count) => (count > 0 ? 1 + Math.log(count) : 0));

/** A text in a vocabulary's columns: TF-IDF, each block of length 1 times its weight. */
export function vectorOf(features: Features, vocabulary: Vocabulary, blockWeights: BlockWeights): Vector {
  const total = features.hash.length;
  const ids = new Int32Array(total);
  const values = new Float32Array(total);
  const source = new Int32Array(total);
  const squares = new Float64Array(BLOCK_COUNT);
  let size = 0;
  for (let at = 0; at < total; at++) {
    const column = columnOf(vocabulary, features.hash[at] as number);
    const rarity = column < 0 ? vocabulary.rarityUnseen : (vocabulary.rarity[column] as number);
    const value = (TERM_FREQUENCY[Math.min(features.count[at] as number, 63)] as number) * rarity;
    const block = features.block[at] as number;
    squares[block] = (squares[block] as number) + value * value * (column < 0 ? UNSEEN_SHARE : 1);
    if (column < 0) continue;
    ids[size] = column;
    values[size] = value;
    source[size] = at;
    size++;
  }
  const scale = squares.map((square, block) =>
    square > 0 ? (blockWeights[block] ?? 0) / Math.sqrt(square) : 0,
  );
  for (let at = 0; at < size; at++) {
    const block = features.block[source[at] as number] as number;
    values[at] = (values[at] as number) * (scale[block] as number);
  }
  return { ids: ids.subarray(0, size), values: values.subarray(0, size), source: source.subarray(0, size) };
}
/** How far unseen features lengthen the norm: 0 would trust the few known ones of a foreign text too much. */
const UNSEEN_SHARE = 0.5;
