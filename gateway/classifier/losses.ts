import type { Loss, Problem } from "./linear.ts";
import { TUNING } from "./tuning.ts";

type Labelled = Pick<Problem, "labels" | "costs" | "classes">;

/** The cost of all rows of each class. */
function classCosts({ labels, costs, classes }: Labelled): Float64Array {
  const sums = new Float64Array(classes);
  for (const [row, label] of labels.entries()) sums[label] = (sums[label] ?? 0) + (costs[row] ?? 0);
  return sums;
}

/** One-vs-rest linear SVM with squared hinge loss (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008). */
export function svmLoss({ labels, classes }: Labelled): Loss {
  const sizes = classCosts({ labels, costs: new Float32Array(labels.length).fill(1), classes });
  // An error on a class with few examples costs more.
  const lifts = sizes.map((size) => ((labels.length - size) / Math.max(size, 1)) ** TUNING.svmBalance);
  return ({ label, cost, curvature, duals }, scores) => {
    for (let target = 0; target < classes; target++) {
      const sign = target === label ? 1 : -1;
      const softness = 1 / (2 * TUNING.svmCost * cost * (sign > 0 ? (lifts[target] ?? 1) || 1 : 1));
      const alpha = sign * (duals[target] ?? 0);
      const gradient = sign * (scores[target] ?? 0) - 1 + alpha * softness;
      scores[target] = sign * (Math.max(alpha - gradient / (curvature + softness), 0) - alpha);
    }
  };
}

/** Multinomial logistic regression (Shalev-Shwartz and Zhang, JMLR 2013). */
export function softmaxLoss(problem: Labelled): Loss {
  const sums = classCosts(problem);
  const mean = sums.reduce((total, sum) => total + sum, 0) / Math.max(problem.classes, 1);
  const lifts = sums.map((sum) => TUNING.topicCost * (mean / (sum || 1)) ** TUNING.topicBalance);
  return ({ label, cost, curvature, duals }, scores) => {
    const balanced = cost * (lifts[label] ?? 1);
    const damping = 1 / (1 + (balanced * curvature) / 4);
    const highest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - highest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    for (let target = 0; target < scores.length; target++) {
      const truth = target === label ? 1 : 0;
      const wanted = balanced * (truth - (powers[target] ?? 0) / total);
      scores[target] = damping * (wanted - (duals[target] ?? 0));
    }
  };
}

/** Brings log-odds to about the size of the SVM's decision values, so that the same decision rule serves both. */
export const SOFTMAX_SCALE = 1 / 4;
