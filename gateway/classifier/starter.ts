import { type Features, featuresOf } from "./features.ts";
import { SEEDS, TASK_KINDS } from "./kinds.ts";
import { svmLoss, trainLinear } from "./linear.ts";
import { rowsOf, scoresOf } from "./sparse.ts";
import { TUNING } from "./tuning.ts";
import { columnsOf, learnVocabulary, type Vocabulary, vectorOf } from "./vocabulary.ts";

/** Recognises kinds of task before any administrator has written an example: a model of the built-in examples. */
export type Starter = {
  vocabulary: Vocabulary;
  /** `weights[column * TASK_KINDS.length + kind]`; the last column is the bias. */
  weights: Float32Array;
  /** Out-of-fold scores of the built-in examples, in the order of `SEEDS`: as if each had been new. */
  held: Float32Array;
};

const FOLDS = 5;
const FOLD_PASSES = 3;
/** Neighbouring examples were written together and resemble each other: they are held out together. */
const NEIGHBOURS = 10;

let seedFeatures: readonly Features[] | null = null;
/** Features of the built-in examples, in the order of `SEEDS`. Every training needs them. */
export function featuresOfSeeds(): readonly Features[] {
  seedFeatures ??= SEEDS.map(({ text }) => featuresOf(text));
  return seedFeatures;
}

/** What training the starter takes seconds for. */
export type StarterNumbers = Pick<Starter, "weights" | "held">;

/** Trains the starter (about two seconds on one core). The same build always gives the same bytes. */
export function trainStarter(): Starter {
  const features = featuresOfSeeds();
  const vocabulary = learnVocabulary(features, 1);
  const vectors = features.map((one) =>
    vectorOf({ features: one, kinds: [] }, vocabulary, TUNING.starterBlocks),
  );
  const problem = {
    rows: rowsOf(vectors, columnsOf(vocabulary)),
    labels: Int32Array.from(SEEDS, ({ kind }) => TASK_KINDS.indexOf(kind)),
    costs: new Float32Array(SEEDS.length).fill(1),
    classes: TASK_KINDS.length,
    fold: Int8Array.from(SEEDS, (_, index) => Math.floor(index / NEIGHBOURS) % FOLDS),
    folds: FOLDS,
    foldPasses: FOLD_PASSES,
  };
  const { weights, held } = trainLinear(problem, svmLoss(problem));
  return starterOf({ vocabulary, weights: roundedToHalf(weights), held });
}

/** The starter that these numbers were trained for; null: they are another build's. */
export function starterWith({ weights, held }: StarterNumbers): Starter | null {
  const vocabulary = learnVocabulary(featuresOfSeeds(), 1);
  const isOurs =
    weights.length === (columnsOf(vocabulary) + 1) * TASK_KINDS.length &&
    held.length === SEEDS.length * TASK_KINDS.length;
  return isOurs ? starterOf({ vocabulary, weights, held }) : null;
}

/** A starter in memory that threads share. */
export const starterOf = ({ vocabulary: { table, idf, idfUnseen }, weights, held }: Starter): Starter => ({
  vocabulary: {
    table: { keys: shared(table.keys), places: shared(table.places) },
    idf: shared(idf),
    idfUnseen,
  },
  weights: shared(weights),
  held: shared(held),
});

export const kindScores = ({ vocabulary, weights }: Starter, features: Features): Float64Array =>
  scoresOf(vectorOf({ features, kinds: [] }, vocabulary, TUNING.starterBlocks), weights, TASK_KINDS.length);

/** The out-of-fold scores of one built-in example. */
export const heldKindScores = ({ held }: Starter, seed: number): Float32Array =>
  held.subarray(seed * TASK_KINDS.length, (seed + 1) * TASK_KINDS.length);

/** Rounds to 16-bit floats, so that a model is the same before and after it was stored. */
export const roundedToHalf = (values: Float32Array): Float32Array =>
  Float32Array.from(Float16Array.from(values));

/** The same numbers in shared memory: copying megabytes to each training thread would stop the one that answers calls. */
function shared<T extends Uint32Array | Int32Array | Float32Array>(array: T): T {
  // Both constructors take a shared buffer, and an array's constructor makes arrays of its own type.
  const TypedArray = array.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new TypedArray(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
