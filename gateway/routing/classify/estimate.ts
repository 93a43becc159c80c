import { fitSigmoid, type Prior, probabilityOf } from "./calibrate.ts";

/** A held-out decision. `margin`: the best route's score less the next one's; null where there is no other route. */
export type MarginTrial = { margin: number | null; correct: boolean };

/** What holds of routes in general: how sure a margin makes, and by which power of the examples' number errors fall. */
type Experience = { prior: Prior; growth: number };
/** What is believed beforehand counts about as much as a hundred trials. */
const BELIEF = 12;
const TASKS: Experience = {
  prior: { sigmoid: { slope: 1.75, offset: -0.2 }, slope: BELIEF, offset: BELIEF },
  growth: 0.1,
};
const TOPICS: Experience = {
  prior: { sigmoid: { slope: 5.2, offset: -0.7 }, slope: BELIEF, offset: BELIEF },
  growth: 0.45,
};

/**
 * Estimates the share of new texts that a model gets right (0 to 1); null without a trial. Of 100 trials the share of
 * right ones has a standard error of 4 points, most of it by chance: whether a text decided by a hair fell on the right
 * side. So each counts by how often a decision of its margin is right, which is learned from the trials and, as long as
 * they are few, from other routes. A model that has seen all examples errs less than those of the trials, which
 * missed one part of `folds`.
 */
export function estimateAccuracy(
  trials: readonly MarginTrial[],
  { oneKind, folds }: { oneKind: boolean; folds: number },
): number | null {
  if (trials.length === 0) return null;
  const scored = trials.flatMap(({ margin, correct }) =>
    margin === null ? [] : [{ score: margin, correct }],
  );
  const { prior, growth } = oneKind ? TOPICS : TASKS;
  const sigmoid = fitSigmoid(scored, prior);
  const errors = scored.reduce((sum, { score }) => sum + 1 - probabilityOf(sigmoid, score), 0);
  return 1 - (errors / trials.length) * ((folds - 1) / folds) ** growth;
}
