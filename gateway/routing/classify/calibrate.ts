/** Turns a score into a probability: 1 / (1 + e^-(slope·score + offset)). */
export type Sigmoid = { slope: number; offset: number };
export type Trial = { score: number; correct: boolean };

/** What is assumed where too few examples exist to learn it. */
export const SIGMOID_ASSUMED: Sigmoid = { slope: 2.5, offset: 1.2 };
const ITERATIONS = 40;
const RIDGE = 1e-3;

export const probabilityOf = (sigmoid: Sigmoid, score: number): number =>
  1 / (1 + Math.exp(-(sigmoid.slope * score + sigmoid.offset)));

/**
 * Fits the sigmoid to trials by Newton's method, with Platt's smoothed targets (Platt 1999; Lin, Lin and Weng 2007).
 * The slope is kept above 0: a higher score never means less confidence.
 */
export function fitSigmoid(trials: readonly Trial[]): Sigmoid {
  const right = trials.filter(({ correct }) => correct).length;
  const high = (right + 1) / (right + 2);
  const low = 1 / (trials.length - right + 2);
  let { slope, offset } = SIGMOID_ASSUMED;
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    let [a, b, c, gradientSlope, gradientOffset] = [
      RIDGE,
      0,
      RIDGE,
      RIDGE * (slope - SIGMOID_ASSUMED.slope),
      0,
    ];
    for (const { score, correct } of trials) {
      const p = probabilityOf({ slope, offset }, score);
      const miss = p - (correct ? high : low);
      const spread = p * (1 - p);
      a += spread * score * score;
      b += spread * score;
      c += spread;
      gradientSlope += miss * score;
      gradientOffset += miss;
    }
    const determinant = a * c - b * b;
    if (determinant < 1e-12) break;
    const stepSlope = (c * gradientSlope - b * gradientOffset) / determinant;
    const stepOffset = (a * gradientOffset - b * gradientSlope) / determinant;
    slope = Math.max(slope - stepSlope, 0.1);
    offset -= stepOffset;
    if (Math.abs(stepSlope) + Math.abs(stepOffset) < 1e-6) break;
  }
  return { slope, offset };
}

/** The value below which a share of the sorted copies of `values` lies. `values` must not be empty. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? 0;
}
