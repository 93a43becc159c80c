import { type Features, featuresOf } from "./features.ts";
import type { Model } from "./model.ts";
import { scoresOf } from "./sparse.ts";
import { kindScores } from "./starter.ts";
import { type TextVector, vectorOf } from "./vocabulary.ts";

/** A text's decision value per class and per kind of task, with what they were computed from. */
export type ScoredText = {
  features: Features;
  vector: TextVector;
  kinds: Float64Array;
  scores: Float64Array;
};

/** Scores a text. `explain` also keeps what each feature was read from. */
export function scoreText(model: Model, text: string, explain = false): ScoredText {
  const features = featuresOf(text, explain);
  const kinds = kindScores(model.starter, features);
  const vector = vectorOf({ features, kinds }, model.vocabulary, model.blocks);
  return { features, vector, kinds, scores: scoresOf(vector, model.weights, model.classes.length) };
}
