import { trainMerged } from "./alike.ts";
import { type Features, featuresOf } from "./features.ts";
import { KINDS } from "./kinds.ts";
import { LEXICON } from "./lexicon.ts";
import { rowsOf, scoresOf } from "./rows.ts";
import { SEEDS } from "./seeds.ts";
import { roundedToHalf, shared } from "./serialise.ts";
import type { Passes } from "./softmax.ts";
import { trainOneVsRest } from "./svm.ts";
import {
  type BlockWeights,
  columnsOf,
  desk,
  layOut,
  learnVocabulary,
  type Vocabulary,
  vectorOf,
} from "./vocabulary.ts";

/** What the gateway knows of kinds of task before any administrator says anything: a model of the built-in examples. */
export type Starter = {
  vocabulary: Vocabulary;
  /** `weights[column * KINDS.length + kind]`; the last column is the bias. */
  weights: Float32Array;
  /** Out-of-fold scores of the built-in examples, in the order of `SEEDS`: as if each had been new. */
  held: Float32Array;
};

export const STARTER_BLOCKS: BlockWeights = [1, 0.8, 0.3, 0.5, 0, 0.4];
const FOLDS = 3;
/** Every route of an administrator's learns from the held-out scores: they are worth going over again. */
const PASSES: Passes = { full: 10, fold: 10 };
/** A prime far from the folds' number spreads neighbouring seeds, which resemble each other, over the folds. */
const SPREAD = 7919;

let seedFeatures: readonly Features[] | null = null;
/** Features of the built-in examples, in the order of `SEEDS`. Read once: every training needs them. */
export function featuresOfSeeds(): readonly Features[] {
  seedFeatures ??= SEEDS.map(({ text }) => featuresOf(text, LEXICON));
  return seedFeatures;
}

/** Trains the starter (about a second on one core). The same build always gives the same bytes. */
export function trainStarter(): Starter {
  const features = featuresOfSeeds();
  const vocabulary = learnVocabulary(features, 1);
  const vectors = features.map((one) => vectorOf(one, vocabulary, STARTER_BLOCKS));
  const rows = rowsOf(vectors, columnsOf(vocabulary));
  const problem = {
    rows,
    trials: rows,
    labels: Int32Array.from(SEEDS, ({ kind }) => KINDS.indexOf(kind)),
    costs: new Float32Array(SEEDS.length).fill(1),
    classes: KINDS.length,
    fold: Int8Array.from(SEEDS, (_, index) => (index * SPREAD) % FOLDS),
    folds: FOLDS,
  };
  const { weights, held } = trainMerged(problem, (merged) => trainOneVsRest(merged, PASSES));
  return {
    vocabulary: {
      ...vocabulary,
      slots: shared(vocabulary.slots),
      rarity: shared(vocabulary.rarity),
    },
    weights: shared(roundedToHalf(weights)),
    held: shared(held),
  };
}

/** One score per kind of task, for the features of a text. */
export function kindScores(starter: Starter, features: Features): Float64Array {
  const { vocabulary, weights } = starter;
  const { size } = layOut(features, vocabulary, STARTER_BLOCKS);
  return scoresOf(desk, size, weights, { width: columnsOf(vocabulary), classes: KINDS.length });
}

/** The out-of-fold scores of one built-in example. */
export function heldKindScores(starter: Starter, seed: number): Float32Array {
  return starter.held.subarray(seed * KINDS.length, (seed + 1) * KINDS.length);
}
