import { type Features, featuresOf } from "./features.ts";
import type { ClassName, Model } from "./model.ts";
import { scoresOf } from "./sparse.ts";
import { kindScores } from "./starter.ts";
import { TUNING } from "./tuning.ts";
import { type TextVector, vectorOf } from "./vocabulary.ts";

/** Classes: the best route (−1: none may be chosen), the best of another route, the strongest hidden class. */
export type Decision = {
  best: number;
  second: number;
  hidden: number;
  /** Compared with the model's threshold. */
  score: number;
};

/** The highest of the classes that `admits`, by decision value; −1 if it admits no class. */
function highest(scores: ArrayLike<number>, admits: (index: number) => boolean): number {
  let best = -1;
  for (let index = 0; index < scores.length; index++) {
    if (admits(index) && (best < 0 || (scores[index] ?? 0) > (scores[best] ?? 0))) best = index;
  }
  return best;
}

/**
 * How much more a text looks like kinds that allowed routes take than like other kinds; 0 if unknown.
 * The starter judges it, because it has not seen the routes' examples: any real text resembles those more than it
 * resembles built-in ones.
 */
function takenMargin(
  takers: Model["takers"],
  kinds: ArrayLike<number>,
  allowed: ReadonlySet<string> | null,
): number {
  const isTaken = takers.map((names) => names.some((name) => allowed === null || allowed.has(name)));
  if (isTaken.every((taken) => taken === isTaken[0])) return 0;
  const highestWhere = (taken: boolean) =>
    Math.max(...isTaken.map((it, at) => (it === taken ? (kinds[at] ?? 0) : Number.NEGATIVE_INFINITY)));
  return highestWhere(true) - highestWhere(false);
}

/** Decides by decision values per class and per kind of task. `allowed` names the routes that may be chosen; null: all. */
export function decide(
  { classes, takers }: Pick<Model, "classes" | "takers">,
  { scores, kinds }: { scores: ArrayLike<number>; kinds: ArrayLike<number> },
  allowed: ReadonlySet<string> | null,
): Decision {
  const mayChoose = ({ kind, name }: ClassName) =>
    kind === "route" && (allowed === null || allowed.has(name));
  const choices = classes.map(mayChoose);
  const best = highest(scores, (at) => choices[at] === true);
  const second = highest(scores, (at) => choices[at] === true && classes[at]?.name !== classes[best]?.name);
  const hidden = highest(scores, (at) => classes[at]?.kind === "hidden");
  if (best < 0) return { best, second, hidden, score: Number.NEGATIVE_INFINITY };
  const against = hidden < 0 ? 0 : TUNING.hiddenShare * (scores[hidden] ?? 0);
  const support = TUNING.takenShare * takenMargin(takers, kinds, allowed);
  return { best, second, hidden, score: (scores[best] ?? 0) - against + support };
}

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
