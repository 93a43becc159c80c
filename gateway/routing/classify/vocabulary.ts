import { BLOCKS, COUNTED_BLOCKS, type Features } from "./features.ts";
import { DIMENSIONS } from "./words.ts";

/** Features that training has seen: an open-addressing table from hash to column, and each column's rarity (IDF). */
export type Vocabulary = {
  /** Power of two long; 0 is an empty slot. */
  keys: Uint32Array;
  columns: Int32Array;
  rarity: Float32Array;
  width: number;
  /** Rarity of a feature that training never saw: it lengthens a text's norm and nothing else. */
  rarityUnseen: number;
  /** Rarity of a feature that one text alone had. */
  raritySingle: number;
};

/** How much each block counts: zone, full text, marks of shape, cues, kinds of task, meaning. */
export type BlockWeights = readonly [number, number, number, number, number, number];

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
    // As the table above rounds it.
    raritySingle: Math.fround(rarityOf(1)),
  };
}

/** A text in columns: the vocabulary's, then one for each number of its meaning. */
export type Vector = {
  ids: Int32Array;
  values: Float32Array;
  /** The feature that each of the vocabulary's columns came from; columns of meaning have none. */
  source: Int32Array;
  /** 0 to 1: how much of the text training has seen, and how much of it in other texts than one. */
  known: number;
  knownElsewhere: number;
};

/** Columns of a vector: the vocabulary's and those of meaning. */
export const columnsOf = (vocabulary: Vocabulary): number => vocabulary.width + DIMENSIONS;

const TERM_FREQUENCY = Float64Array.from({ length: 64 }, (_, count) => (count > 0 ? 1 + Math.log(count) : 0));
/** How far unseen features lengthen the norm: 0 would trust the few known ones of a foreign text too much. */
const UNSEEN_SHARE = 0.5;
/** The instruction says more of what a text is about than all of it does. */
const KNOWN_IN_ZONE = 0.8;

/** Squared lengths of a text's blocks: of what training has seen, of that in one text alone, and of what it has not. */
type Lengths = { seen: Float64Array; single: Float64Array; unseen: Float64Array };

const noLengths = (): Lengths => ({
  seen: new Float64Array(COUNTED_BLOCKS),
  single: new Float64Array(COUNTED_BLOCKS),
  unseen: new Float64Array(COUNTED_BLOCKS),
});

/** A text in a vocabulary's columns: TF-IDF, each block of length 1 times its weight. */
export function vectorOf(features: Features, vocabulary: Vocabulary, weights: BlockWeights): Vector {
  const total = features.hash.length;
  const ids = new Int32Array(total + DIMENSIONS);
  const values = new Float32Array(total + DIMENSIONS);
  const source = new Int32Array(total);
  const lengths = noLengths();
  let size = 0;
  for (let at = 0; at < total; at++) {
    const column = columnOf(vocabulary, features.hash[at] as number);
    const rarity = column < 0 ? vocabulary.rarityUnseen : (vocabulary.rarity[column] as number);
    const value = (TERM_FREQUENCY[Math.min(features.count[at] as number, 63)] as number) * rarity;
    const block = features.block[at] as number;
    const square = value * value;
    if (column < 0) {
      lengths.unseen[block] = (lengths.unseen[block] as number) + UNSEEN_SHARE * square;
      continue;
    }
    lengths.seen[block] = (lengths.seen[block] as number) + square;
    if (rarity >= vocabulary.raritySingle) lengths.single[block] = (lengths.single[block] as number) + square;
    ids[size] = column;
    values[size] = value;
    source[size] = at;
    size++;
  }
  scaleBlocks(values, size, (at) => features.block[source[at] as number] as number, lengths, weights);
  const meaning = weights[BLOCKS.meaning];
  for (let at = 0; meaning > 0 && at < DIMENSIONS; at++) {
    ids[size + at] = vocabulary.width + at;
    values[size + at] = meaning * (features.meaning[at] as number);
  }
  const end = meaning > 0 ? size + DIMENSIONS : size;
  return {
    ids: ids.subarray(0, end),
    values: values.subarray(0, end),
    source: source.subarray(0, size),
    ...knownOf(lengths),
  };
}

function scaleBlocks(
  values: Float32Array,
  size: number,
  blockAt: (at: number) => number,
  { seen, unseen }: Lengths,
  weights: BlockWeights,
): void {
  const scale = seen.map((square, block) =>
    square > 0 ? (weights[block] as number) / Math.sqrt(square + (unseen[block] as number)) : 0,
  );
  for (let at = 0; at < size; at++) values[at] = (values[at] as number) * (scale[blockAt(at)] as number);
}

function knownOf({ seen, single, unseen }: Lengths): { known: number; knownElsewhere: number } {
  const shareIn = (block: number, less: number) => {
    const inside = (seen[block] as number) - less * (single[block] as number);
    const outside = (unseen[block] as number) + less * UNSEEN_SHARE * (single[block] as number);
    return inside / (inside + outside || 1);
  };
  const shareOf = (less: number) =>
    Math.sqrt(KNOWN_IN_ZONE * shareIn(BLOCKS.zone, less) + (1 - KNOWN_IN_ZONE) * shareIn(BLOCKS.full, less));
  return { known: shareOf(0), knownElsewhere: shareOf(1) };
}
