import { type Features, featuresOf } from "./features.ts";
import { LEXICON } from "./lexicon.ts";
import type { Model } from "./model.ts";
import { extended, scoresOf } from "./rows.ts";
import { kindScores } from "./starter.ts";
import { type BlockWeights, vectorOf } from "./vocabulary.ts";

/** How much each block of features counts in an administrator's model. */
export const ROUTE_BLOCKS: BlockWeights = [1, 0.5, 0.3, 0.7, 1];

/** The scores of the kinds of task as columns of a vector: of length 1 times their weight, like every block. */
export function kindColumns(kinds: ArrayLike<number>): Float32Array {
  const columns = Float32Array.from(kinds);
  let square = 0;
  for (const value of columns) square += value * value;
  const scale = square > 0 ? ROUTE_BLOCKS[4] / Math.sqrt(square) : 0;
  return columns.map((value) => value * scale);
}

/** A text in the model's columns, and its decision value for every class. */
export type Scored = {
  features: Features;
  vector: { ids: Int32Array; values: Float32Array };
  /** The feature that each of the vector's first columns came from. */
  source: Int32Array;
  scores: Float64Array;
};

/** Features and decision values of a text. `named` keeps what each feature stands for, to explain by. */
export function scoreText(model: Model, text: string, named: boolean): Scored {
  const features = featuresOf(text, LEXICON, named);
  const { ids, values, source } = vectorOf(features, model.vocabulary, ROUTE_BLOCKS);
  const kinds = kindColumns(kindScores(model.starter, features));
  const vector = extended({ ids, values }, model.vocabulary.width, kinds);
  const width = model.vocabulary.width + kinds.length;
  return { features, vector, source, scores: scoresOf(vector, model.weights, width, model.classes.length) };
}
