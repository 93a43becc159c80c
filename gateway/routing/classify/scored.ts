import { BLOCKS, type Features, featuresOf } from "./features.ts";
import { LEXICON } from "./lexicon.ts";
import type { Model } from "./model.ts";
import { extended, scoresOf } from "./rows.ts";
import { kindScores } from "./starter.ts";
import { type BlockWeights, columnsOf, vectorOf } from "./vocabulary.ts";

/** Routes that are different kinds of task: their shape, cues and kinds tell them apart. */
export const TASK_BLOCKS: BlockWeights = [1, 0.8, 0.4, 0.7, 0.8, 0.5];
/** Routes within one kind of task (the questions of one bank): there only the words do. */
export const TOPIC_BLOCKS: BlockWeights = [1, 0.5, 0.1, 0.1, 0.1, 1.1];

/** The scores of the kinds of task as columns of a vector: of length 1 times their weight, like every block. */
export function kindColumns(kinds: ArrayLike<number>, weight: number): Float32Array {
  const columns = Float32Array.from(kinds);
  let square = 0;
  for (const value of columns) square += value * value;
  const scale = square > 0 ? weight / Math.sqrt(square) : 0;
  return columns.map((value) => value * scale);
}

/** A text in the model's columns, and its decision value for every class. */
export type Scored = {
  features: Features;
  vector: { ids: Int32Array; values: Float32Array };
  /** The feature that each of the vector's first columns came from. */
  source: Int32Array;
  /** 0 to 1: how much of the text training has seen. */
  known: number;
  /** What the built-in knowledge takes the text for: a score per kind of task. */
  kinds: Float64Array;
  scores: Float64Array;
};

/** Features and decision values of a text. `named` keeps what each feature stands for, to explain by. */
export function scoreText(model: Model, text: string, named: boolean): Scored {
  const features = featuresOf(text, LEXICON, named);
  const { ids, values, source, known } = vectorOf(features, model.vocabulary, model.blocks);
  const kinds = kindScores(model.starter, features);
  const columns = kindColumns(kinds, model.blocks[BLOCKS.kinds]);
  const vector = extended({ ids, values }, columnsOf(model.vocabulary), columns);
  const width = columnsOf(model.vocabulary) + kinds.length;
  const scores = scoresOf(vector, model.weights, width, model.classes.length);
  return { features, vector, source, known, kinds, scores };
}
