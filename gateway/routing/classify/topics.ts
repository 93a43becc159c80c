import { type LinearModel, type Passes, type Problem, trainSoftmax } from "./softmax.ts";
import { trainOneVsRest } from "./svm.ts";

const COST = 16;
const BALANCE = 0.3;
/** A fold's model begins at the full one's: with few examples, what it must unlearn takes more than a pass. */
const FEW_FOLD_PASSES = 8;

/** What an error on each text costs: in a small class a little more than in a large one. */
function balancedCosts({ labels, costs, classes }: Problem): Float32Array {
  const sizes = new Float64Array(classes);
  for (const [row, label] of labels.entries()) sizes[label] = (sizes[label] ?? 0) + (costs[row] ?? 0);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / Math.max(classes, 1);
  return costs.map((cost, row) => COST * cost * (mean / (sizes[labels[row] ?? 0] || 1)) ** BALANCE);
}

function mean(one: Float32Array, other: Float32Array): Float32Array {
  return one.map((value, at) => (value + (other[at] ?? 0)) / 2);
}

/**
 * Trains routes that are close topics: each against all others and all together, and takes the mean of the two. The
 * first is better with many examples, the second with few, and the mean is at least as good as either.
 */
export function trainTopics(problem: Problem, few: boolean): LinearModel {
  const passes: Passes | undefined = few ? { full: 10, fold: FEW_FOLD_PASSES } : undefined;
  const together = trainSoftmax({ ...problem, costs: balancedCosts(problem) }, passes);
  const apart = trainOneVsRest(problem, passes);
  return { weights: mean(together.weights, apart.weights), held: mean(together.held, apart.held) };
}
