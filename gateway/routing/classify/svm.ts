import { seededRandom, shuffle } from "./random.ts";
import type { Rows } from "./rows.ts";
import type { LinearModel, Passes, Problem } from "./softmax.ts";

const PASSES: Passes = { full: 10, fold: 3 };
const TOLERANCE = 0.1;
const SEED = 20_261_121;

/** One class against the rest: what coordinate descent works on. */
type Binary = {
  rows: Rows;
  sign: Int8Array;
  /** 1 / (2 C) of each row (L2 loss), and that plus the row's squared length. */
  softness: Float64Array;
  curvature: Float64Array;
  weights: Float64Array;
  alpha: Float64Array;
};

/** Four sums side by side: each would wait for itself otherwise. */
function dot({ starts, ids, values, width }: Rows, row: number, weights: Float64Array): number {
  const end = starts[row + 1] as number;
  let at = starts[row] as number;
  let sum = weights[width] as number;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (; at + 3 < end; at += 4) {
    sum += (values[at] as number) * (weights[ids[at] as number] as number);
    second += (values[at + 1] as number) * (weights[ids[at + 1] as number] as number);
    third += (values[at + 2] as number) * (weights[ids[at + 2] as number] as number);
    fourth += (values[at + 3] as number) * (weights[ids[at + 3] as number] as number);
  }
  for (; at < end; at++) sum += (values[at] as number) * (weights[ids[at] as number] as number);
  return sum + second + (third + fourth);
}

function addRow(
  { starts, ids, values, width }: Rows,
  row: number,
  scale: number,
  weights: Float64Array,
): void {
  const end = starts[row + 1] as number;
  for (let at = starts[row] as number; at < end; at++) {
    const id = ids[at] as number;
    weights[id] = (weights[id] as number) + scale * (values[at] as number);
  }
  weights[width] = (weights[width] as number) + scale;
}

/** One coordinate's step. Returns its projected gradient, or null where the row may be left out for now. */
function step(problem: Binary, row: number, ceiling: number): number | null {
  const sign = problem.sign[row] as number;
  const alpha = problem.alpha[row] as number;
  const gradient =
    sign * dot(problem.rows, row, problem.weights) - 1 + alpha * (problem.softness[row] as number);
  if (alpha === 0 && gradient > ceiling) return null;
  const projected = alpha === 0 ? Math.min(gradient, 0) : gradient;
  if (Math.abs(projected) > 1e-12) {
    const next = Math.max(alpha - gradient / (problem.curvature[row] as number), 0);
    problem.alpha[row] = next;
    addRow(problem.rows, row, (next - alpha) * sign, problem.weights);
  }
  return projected;
}

/** The rows in play, in visiting order: the first `active` of `order`. Rows past them are left out for now. */
type Round = { order: Int32Array; active: number; ceiling: number };

/** Visits every active row once. Returns the highest and lowest projected gradient: their distance is the error left. */
function visit(problem: Binary, round: Round): { high: number; low: number } {
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let at = 0; at < round.active; ) {
    const row = round.order[at] as number;
    const projected = step(problem, row, round.ceiling);
    if (projected === null) {
      round.active--;
      round.order[at] = round.order[round.active] as number;
      round.order[round.active] = row;
      continue;
    }
    high = Math.max(high, projected);
    low = Math.min(low, projected);
    at++;
  }
  return { high, low };
}

/**
 * Dual coordinate descent for the L2-loss linear SVM with shrinking (Hsieh, Chang, Lin, Keerthi and Sundararajan,
 * ICML 2008), from whatever `alpha` and `weights` the problem already has.
 */
function descend(problem: Binary, members: Int32Array, passesMax: number, random: () => number): void {
  const round: Round = {
    order: Int32Array.from(members),
    active: members.length,
    ceiling: Number.POSITIVE_INFINITY,
  };
  for (let pass = 0; pass < passesMax; pass++) {
    shuffle(round.order, round.active, random);
    const { high, low } = visit(problem, round);
    const settled = high - low <= TOLERANCE;
    if (settled && round.active === members.length) return;
    // Settled on the active rows alone: one more round over all of them decides.
    if (settled) round.active = members.length;
    round.ceiling = settled || high <= 0 ? Number.POSITIVE_INFINITY : high;
  }
}

function binaryOf(problem: Problem, lengths: Float64Array, target: number): Binary {
  const { rows, labels } = problem;
  const sign = new Int8Array(rows.count);
  let positives = 0;
  for (let row = 0; row < rows.count; row++) {
    sign[row] = labels[row] === target ? 1 : -1;
    if (labels[row] === target) positives++;
  }
  const lift = Math.sqrt((rows.count - positives) / Math.max(positives, 1));
  const softness = new Float64Array(rows.count);
  const curvature = new Float64Array(rows.count);
  for (let row = 0; row < rows.count; row++) {
    const cost = (problem.costs[row] ?? 1) * ((sign[row] ?? 0) > 0 ? lift : 1);
    softness[row] = 1 / (2 * cost);
    curvature[row] = (lengths[row] ?? 0) + 1 / (2 * cost);
  }
  const width = rows.width + 1;
  return {
    rows,
    sign,
    softness,
    curvature,
    weights: new Float64Array(width),
    alpha: new Float64Array(rows.count),
  };
}

function squaredLengths(rows: Rows): Float64Array {
  const lengths = new Float64Array(rows.count);
  for (let row = 0; row < rows.count; row++) {
    let sum = 1;
    for (let at = rows.starts[row] ?? 0; at < (rows.starts[row + 1] ?? 0); at++)
      sum += (rows.values[at] ?? 0) ** 2;
    lengths[row] = sum;
  }
  return lengths;
}

/** Rows that train while a fold is held out, per fold. */
function membersWithout(problem: Problem, fold: number): Int32Array {
  const members: number[] = [];
  for (let row = 0; row < problem.rows.count; row++) if (problem.fold[row] !== fold) members.push(row);
  return Int32Array.from(members);
}

/**
 * Scores of the held-out rows: the full solution minus what those rows gave to it, trained on. Rows that always train
 * and do not matter to the full solution hardly would without a few others: they are not looked at again.
 */
function holdOut(
  full: Binary,
  problem: Problem,
  { fold, members, passes }: { fold: number; members: Int32Array; passes: number },
): Map<number, number> {
  const binary: Binary = { ...full, weights: full.weights.slice(), alpha: full.alpha.slice() };
  const held: number[] = [];
  for (let row = 0; row < problem.rows.count; row++) {
    if (problem.fold[row] !== fold) continue;
    held.push(row);
    const given = binary.alpha[row] ?? 0;
    if (given > 0) addRow(problem.rows, row, -given * (binary.sign[row] ?? 0), binary.weights);
    binary.alpha[row] = 0;
  }
  const moving = members.filter((row) => (problem.fold[row] ?? 0) >= 0 || (binary.alpha[row] ?? 0) > 0);
  descend(binary, moving, passes, seededRandom(SEED + fold));
  return new Map(held.map((row) => [row, dot(problem.trials, row, binary.weights)]));
}

/** Trains one linear SVM per class against the rest, and scores every row of a fold by a model that did not see it. */
export function trainOneVsRest(problem: Problem, passes: Passes = PASSES): LinearModel {
  const { rows, classes } = problem;
  const weights = new Float32Array((rows.width + 1) * classes);
  const held = new Float32Array(rows.count * classes);
  const lengths = squaredLengths(rows);
  const everyone = Int32Array.from({ length: rows.count }, (_, row) => row);
  const folds = Array.from({ length: problem.folds }, (_, fold) => membersWithout(problem, fold));
  for (let target = 0; target < classes; target++) {
    const binary = binaryOf(problem, lengths, target);
    descend(binary, everyone, passes.full, seededRandom(SEED));
    for (let id = 0; id <= rows.width; id++) weights[id * classes + target] = binary.weights[id] ?? 0;
    for (const [fold, members] of folds.entries()) {
      for (const [row, score] of holdOut(binary, problem, { fold, members, passes: passes.fold }))
        held[row * classes + target] = score;
    }
  }
  return { weights, held };
}
