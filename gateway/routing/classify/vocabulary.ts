import { FEATURES_MAX } from "./collect.ts";
import { BLOCKS, COUNTED_BLOCKS, type Features } from "./features.ts";
import { KINDS } from "./kinds.ts";
import type { SparseVector } from "./rows.ts";
import { counted, maskOf, readKeys, type Slots, slotOf, slotsOf } from "./slots.ts";
import { DIMENSIONS } from "./words.ts";

/** Features that training has seen. */
export type Vocabulary = {
  slots: Slots;
  width: number;
  /** How rare a feature is (IDF), by how common it is. */
  rarity: Float32Array;
  /** Rarity of a feature that training never saw: it lengthens a text's norm and nothing else. */
  rarityUnseen: number;
};

/** How much each block counts: zone, full text, marks of shape, cues, kinds of task, meaning. */
export type BlockWeights = readonly [number, number, number, number, number, number];

/** How far a rare feature counts more than a frequent one (1: by its IDF, 0: not at all), and how much an unseen one does. */
export type RarityWeights = { exponent: number; unseen: number };

/** How common a feature is that several texts have, by the classes that have it: 1 stands for one text alone. */
const commonIn = (count: number, classes: number) => (count === 1 ? 1 : classes + 1);

/**
 * Learns the features of a set of texts. `seenMin` drops those in fewer texts: they cannot generalise in a large set.
 * With `labels`, in ascending order, a feature is as rare as the classes are few that have it, however many texts do.
 */
export function learnVocabulary(
  texts: readonly Features[],
  seenMin: number,
  { exponent, unseen }: RarityWeights = { exponent: 1, unseen: 1 },
  labels: ArrayLike<number> | null = null,
): Vocabulary {
  const rarityOf = (count: number) => (Math.log((1 + texts.length) / (1 + count)) + 1) ** exponent;
  const found = counted(
    texts.map(({ hash }) => hash),
    labels ?? [],
  );
  return {
    ...slotsOf(found, seenMin, labels ? commonIn : (count) => count),
    rarity: Float32Array.from({ length: texts.length + 2 }, (_, common) =>
      rarityOf(labels && common > 1 ? common - 1 : common),
    ),
    rarityUnseen: unseen * rarityOf(0),
  };
}

/** How much of a text training has seen (0 to 1). */
type Known = { known: number };
/** A text in columns: the vocabulary's, one for each number of its meaning, then one for each kind of task. */
export type Vector = SparseVector &
  Known & {
    /** The feature that each of the vocabulary's columns came from; the others have none. */
    source: Int32Array;
  };

/** Columns of a vector: the vocabulary's and those of meaning. */
export const columnsOf = (vocabulary: Vocabulary): number => vocabulary.width + DIMENSIONS;

const TERM_FREQUENCY = Float64Array.from({ length: 64 }, (_, count) => (count > 0 ? 1 + Math.log(count) : 0));
/** How far unseen features lengthen the norm: 0 would trust the few known ones of a foreign text too much. */
const UNSEEN_SHARE = 0.5;
/** The instruction says more of what a text is about than all of it does. */
const KNOWN_IN_ZONE = 0.8;

/** Squared lengths of a text's blocks: of what training has seen, and of what it has not. */
type Lengths = { seen: Float64Array; unseen: Float64Array };

const noLengths = (): Lengths => ({
  seen: new Float64Array(COUNTED_BLOCKS),
  unseen: new Float64Array(COUNTED_BLOCKS),
});

/**
 * Room for one text's columns, used again by the next text: fresh memory for each would cost more time than all else.
 * What is kept of a text has to be copied.
 */
const COLUMNS_MAX = FEATURES_MAX + DIMENSIONS + KINDS.length;
export const desk = {
  ids: new Int32Array(COLUMNS_MAX),
  values: new Float32Array(COLUMNS_MAX),
  source: new Int32Array(FEATURES_MAX),
  keys: new Uint32Array(FEATURES_MAX),
};

/** Looks features up; returns how many are known, which then stand on the desk with their TF-IDF. */
function lookUp(
  { hash, count, block }: Features,
  vocabulary: Vocabulary,
  lengths: Lengths,
  less: number,
): number {
  const { slots, rarity, rarityUnseen } = vocabulary;
  const { seen, unseen } = lengths;
  const { ids, values, source, keys } = desk;
  const mask = maskOf(slots);
  readKeys(slots, mask, hash, keys);
  let size = 0;
  for (let at = 0; at < hash.length; at++) {
    const slot = keys[at] === 0 ? -1 : slotOf(slots, mask, hash[at] as number);
    const frequency = TERM_FREQUENCY[Math.min(count[at] as number, 63)] as number;
    const group = block[at] as number;
    const common = slot < 0 ? 0 : (slots[slot + 1] as number) - less;
    if (common === 0) {
      const value = frequency * rarityUnseen;
      unseen[group] = (unseen[group] as number) + UNSEEN_SHARE * (value * value);
      continue;
    }
    const value = frequency * (rarity[common] as number);
    seen[group] = (seen[group] as number) + value * value;
    ids[size] = slots[slot] as number;
    values[size] = value;
    source[size] = at;
    size++;
  }
  return size;
}

/** Appends numbers as columns from `first` on; zeros are left out. Returns the new size. */
function append(size: number, first: number, numbers: ArrayLike<number>, weight: number): number {
  let end = size;
  for (let at = 0; at < numbers.length; at++) {
    const value = weight * (numbers[at] as number);
    if (value === 0) continue;
    desk.ids[end] = first + at;
    desk.values[end] = value;
    end++;
  }
  return end;
}

/** What stands on the desk: `size` columns, the first `counted` of them the vocabulary's. */
export type Laid = Known & { size: number; counted: number };

/**
 * Lays a text out on the desk in a vocabulary's columns: TF-IDF, each block of length 1 times its weight. `kinds` are
 * the columns of the kinds of task, if there are any. `isTrained`: as if the text had not been one of those that the
 * vocabulary was learned from, so that it does not vouch for itself.
 */
export function layOut(
  features: Features,
  vocabulary: Vocabulary,
  weights: BlockWeights,
  kinds: ArrayLike<number> = [],
  isTrained = false,
): Laid {
  const { values, source } = desk;
  const lengths = noLengths();
  const counted = lookUp(features, vocabulary, lengths, isTrained ? 1 : 0);
  const scale = scalesOf(lengths, weights);
  for (let at = 0; at < counted; at++) {
    const group = features.block[source[at] as number] as number;
    values[at] = (values[at] as number) * (scale[group] as number);
  }
  const meant = append(counted, vocabulary.width, features.meaning, weights[BLOCKS.meaning]);
  return { counted, size: append(meant, columnsOf(vocabulary), kinds, 1), ...knownOf(lengths) };
}

/** A copy of what stands on the desk. */
export function kept({ size, counted, known }: Laid): Vector {
  return {
    ids: desk.ids.slice(0, size),
    values: desk.values.slice(0, size),
    source: desk.source.slice(0, counted),
    known,
  };
}

/** A text in a vocabulary's columns. */
export const vectorOf = (...text: Parameters<typeof layOut>): Vector => kept(layOut(...text));

/** What each block's values are multiplied by to be of that length together. */
function scalesOf({ seen, unseen }: Lengths, weights: BlockWeights): Float64Array {
  return seen.map((square, block) =>
    square > 0 ? (weights[block] as number) / Math.sqrt(square + (unseen[block] as number)) : 0,
  );
}

function knownOf({ seen, unseen }: Lengths): Known {
  const shareIn = (block: number) => {
    const inside = seen[block] as number;
    return inside / (inside + (unseen[block] as number) || 1);
  };
  return {
    known: Math.sqrt(KNOWN_IN_ZONE * shareIn(BLOCKS.zone) + (1 - KNOWN_IN_ZONE) * shareIn(BLOCKS.full)),
  };
}
