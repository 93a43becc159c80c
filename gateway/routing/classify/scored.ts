import { BLOCKS, type Features, featuresOf } from "./features.ts";
import { LEXICON } from "./lexicon.ts";
import type { Model } from "./model.ts";
import { scoresOf } from "./rows.ts";
import { kindScores } from "./starter.ts";
import { type BlockWeights, columnsOf, desk, kept, type Laid, layOut, type Vector } from "./vocabulary.ts";

/** Routes that are different kinds of task: their shape, cues and kinds tell them apart. */
export const TASK_BLOCKS: BlockWeights = [1, 0.8, 0.4, 0.7, 0.8, 0.5];
/** Routes within one kind of task (the questions of one bank): there only the words do. */
export const TOPIC_BLOCKS: BlockWeights = [1, 0.5, 0.1, 0.1, 0.1, 1.1];
/** The same with few examples a route, which do not hold all words that its texts are written with. */
export const FEW_TOPIC_BLOCKS: BlockWeights = [1, 0.6, 0.1, 0.15, 0.15, 1.2];

/** The scores of the kinds of task as columns of a vector: of length 1 times their weight, like every block. */
export function kindColumns(kinds: ArrayLike<number>, weight: number): Float32Array {
  const columns = Float32Array.from(kinds);
  let square = 0;
  for (let at = 0; at < columns.length; at++) square += (columns[at] as number) ** 2;
  const scale = square > 0 ? weight / Math.sqrt(square) : 0;
  for (let at = 0; at < columns.length; at++) columns[at] = (columns[at] as number) * scale;
  return columns;
}

/** A text's decision value for every class. */
export type Scored = {
  /** 0 to 1: how much of the text training has seen. */
  known: number;
  /** What the built-in knowledge takes the text for: a score per kind of task. */
  kinds: Float64Array;
  scores: Float64Array;
};

/** The same with what it was made of, to explain it by. */
export type ScoredInDetail = Scored & { features: Features; vector: Vector };

/** Scores features, whose columns then stand on the desk. */
function scoreFeatures(model: Model, features: Features): Scored & { laid: Laid } {
  const kinds = kindScores(model.starter, features);
  const columns = kindColumns(kinds, model.blocks[BLOCKS.kinds]);
  const laid = layOut(features, model.vocabulary, model.blocks, columns);
  const width = columnsOf(model.vocabulary) + kinds.length;
  const scores = scoresOf(desk, laid.size, model.weights, { width, classes: model.classes.length });
  return { known: laid.known, kinds, scores, laid };
}

/** Decision values of a text. */
export function scoreText(model: Model, text: string): Scored {
  return scoreFeatures(model, featuresOf(text, LEXICON));
}

/** Decision values of a text, its columns and what each of them stands for. */
export function scoreInDetail(model: Model, text: string): ScoredInDetail {
  const features = featuresOf(text, LEXICON, true);
  const { laid, ...scored } = scoreFeatures(model, features);
  return { ...scored, features, vector: kept(laid) };
}
