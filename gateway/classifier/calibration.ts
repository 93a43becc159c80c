/** Turns a score into a probability: 1 / (1 + e^-(slope·score + offset)). */
export type Sigmoid = { slope: number; offset: number };
export type Trial = { score: number; correct: boolean };

/** Used if there are too few examples to fit one. */
export const SIGMOID_ASSUMED: Sigmoid = { slope: 2.5, offset: 1.2 };
/** A prior of the sigmoid, with the precision of its slope and offset. */
export type Prior = { sigmoid: Sigmoid; slope: number; offset: number };
const UNDECIDED: Prior = { sigmoid: SIGMOID_ASSUMED, slope: 1e-3, offset: 0 };
/** Keeps Newton's step finite if all trials have the same score. */
const RIDGE = 1e-3;
const ITERATIONS = 40;
const SLOPE_MIN = 0.1;

export const probabilityOf = (sigmoid: Sigmoid, score: number): number =>
  1 / (1 + Math.exp(-(sigmoid.slope * score + sigmoid.offset)));

type Target = { score: number; target: number };

/** Cross-entropy of the sigmoid on the targets, with a penalty for distance from the prior. */
function lossOf(sigmoid: Sigmoid, targets: readonly Target[], prior: Prior): number {
  let loss = (prior.slope / 2) * (sigmoid.slope - prior.sigmoid.slope) ** 2;
  loss += (prior.offset / 2) * (sigmoid.offset - prior.sigmoid.offset) ** 2;
  for (const { score, target } of targets) {
    const logit = sigmoid.slope * score + sigmoid.offset;
    // log(1 + e^logit) without overflow.
    loss += Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))) - target * logit;
  }
  return loss;
}

function newtonStep({ slope, offset }: Sigmoid, targets: readonly Target[], prior: Prior): Sigmoid {
  let [a, b, c] = [prior.slope, 0, prior.offset + RIDGE];
  let gradientSlope = prior.slope * (slope - prior.sigmoid.slope);
  let gradientOffset = prior.offset * (offset - prior.sigmoid.offset);
  for (const { score, target } of targets) {
    const p = probabilityOf({ slope, offset }, score);
    const spread = p * (1 - p);
    a += spread * score * score;
    b += spread * score;
    c += spread;
    gradientSlope += (p - target) * score;
    gradientOffset += p - target;
  }
  const determinant = a * c - b * b;
  return {
    slope: (c * gradientSlope - b * gradientOffset) / determinant,
    offset: (a * gradientOffset - b * gradientSlope) / determinant,
  };
}

/**
 * Fits the sigmoid to trials by Newton's method with halved steps and Platt's smoothed targets (Platt 1999; Lin, Lin
 * and Weng 2007). The slope is kept above 0: a higher score never means less confidence.
 */
export function fitSigmoid(trials: readonly Trial[], prior: Prior = UNDECIDED): Sigmoid {
  const right = trials.filter(({ correct }) => correct).length;
  const [high, low] = [(right + 1) / (right + 2), 1 / (trials.length - right + 2)];
  const targets = trials.map(({ score, correct }) => ({ score, target: correct ? high : low }));
  let fitted = prior.sigmoid;
  let loss = lossOf(fitted, targets, prior);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const step = newtonStep(fitted, targets, prior);
    let share = 1;
    let next = fitted;
    for (; share > 1e-4; share /= 2) {
      next = {
        slope: Math.max(fitted.slope - share * step.slope, SLOPE_MIN),
        offset: fitted.offset - share * step.offset,
      };
      if (lossOf(next, targets, prior) < loss) break;
    }
    const lower = lossOf(next, targets, prior);
    if (!(loss - lower > 1e-7)) return fitted;
    [fitted, loss] = [next, lower];
  }
  return fitted;
}

/** The value below which a share of the sorted copies of `values` lies. `values` must not be empty. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? 0;
}
