import { type LinearModel, type Passes, type Problem, trainSoftmax } from "./softmax.ts";
import { trainOneVsRest } from "./svm.ts";
import type { RarityWeights } from "./vocabulary.ts";

const COST = 16;
const BALANCE = 0.3;
/** The two models: how often each is gone over, what an error costs one against all, and the other's share of the mean. */
type Recipe = { together?: Passes; apart?: Passes; apartCost: number; togetherShare: number };
const MANY: Recipe = { apartCost: 1, togetherShare: 0.5 };
/** With few examples a fold misses what it leaves out: its model is trained afresh, or long enough to unlearn it. */
const FEW: Recipe = {
  together: { full: 12, fold: 8, isFresh: true },
  apart: { full: 10, fold: 8 },
  apartCost: 5,
  togetherShare: 0.6,
};
/** With few examples, how many routes have a word tells more than how many texts do, and words not seen are many. */
export const FEW_TOPIC_RARITY: RarityWeights = { exponent: 1.2, unseen: 1.25 };

/** What an error on each text costs: in a small class a little more than in a large one. */
function balancedCosts({ labels, costs, classes }: Problem): Float32Array {
  const sizes = new Float64Array(classes);
  for (const [row, label] of labels.entries()) sizes[label] = (sizes[label] ?? 0) + (costs[row] ?? 0);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / Math.max(classes, 1);
  return costs.map((cost, row) => COST * cost * (mean / (sizes[labels[row] ?? 0] || 1)) ** BALANCE);
}

/** The mean of two models' numbers, `share` of it the first one's. */
function mixed(one: Float32Array, other: Float32Array, share: number): Float32Array {
  return one.map((value, at) => share * value + (1 - share) * (other[at] ?? 0));
}

/**
 * Trains routes that are close topics: each against all others and all together, and takes the mean of the two. The
 * first is better with many examples, the second with few, and the mean is at least as good as either.
 */
export function trainTopics(problem: Problem, few: boolean): LinearModel {
  const recipe = few ? FEW : MANY;
  const together = trainSoftmax({ ...problem, costs: balancedCosts(problem) }, recipe.together);
  const costs = problem.costs.map((cost) => recipe.apartCost * cost);
  const apart = trainOneVsRest({ ...problem, costs }, recipe.apart);
  return {
    weights: mixed(together.weights, apart.weights, recipe.togetherShare),
    held: mixed(together.held, apart.held, recipe.togetherShare),
  };
}
