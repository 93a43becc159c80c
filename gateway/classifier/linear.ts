import { type Rows, rowAt, scoresOf, squaredLength } from "./sparse.ts";
import { TUNING } from "./tuning.ts";

/** A problem of many classes. `labels[r]` is the class of row r; `costs[r]` what an error on it costs. */
export type Problem = {
  rows: Rows;
  labels: Int32Array;
  costs: Float32Array;
  classes: number;
  /** 0 … folds − 1 for rows that are held out in turn, −1 for rows that always train. */
  fold: Int8Array;
  folds: number;
  /** Passes over the other rows after a fold is taken out. With few of them, held-out scores are too low. */
  foldPasses: number;
};

/** A row as a loss sees it; `duals` are its coefficients, one per class. `curvature`: its squared length, bias included. */
type Example = { label: number; cost: number; curvature: number; duals: Float32Array };

/** Replaces the scores of an example by the changes of its dual coefficients that lower the loss most. */
export type Loss = (example: Example, scores: Float64Array) => void;

/** `weights[column * classes + class]`, then the biases. `held[row * classes + class]`: the out-of-fold scores. */
export type LinearModel = { weights: Float32Array; held: Float32Array };

const SEED = 20_261_121;
const PASSES = 10;
/** Smaller steps, as shares of the cost, are skipped: most classes are irrelevant to most rows. */
const STEP_MIN = 1e-4;

type State = {
  problem: Problem;
  loss: Loss;
  weights: Float32Array;
  duals: Float32Array;
  lengths: Float64Array;
};

const dualsOf = ({ duals, problem: { classes } }: State, row: number): Float32Array =>
  duals.subarray(row * classes, (row + 1) * classes);

function addRow(
  { problem: { rows, classes }, weights }: State,
  row: number,
  multiples: ArrayLike<number>,
): void {
  const targets: number[] = [];
  for (let target = 0; target < classes; target++) if (multiples[target] !== 0) targets.push(target);
  if (targets.length === 0) return;
  const { ids, values } = rowAt(rows, row);
  for (let at = 0; at <= ids.length; at++) {
    const isBias = at === ids.length;
    const value = isBias ? 1 : (values[at] ?? 0);
    const base = (isBias ? rows.width : (ids[at] ?? 0)) * classes;
    for (const target of targets) {
      weights[base + target] = (weights[base + target] ?? 0) + value * (multiples[target] ?? 0);
    }
  }
}

function step(state: State, row: number): void {
  const { problem, loss, weights, lengths } = state;
  const changes = scoresOf(rowAt(problem.rows, row), weights, problem.classes);
  const cost = problem.costs[row] ?? 1;
  const duals = dualsOf(state, row);
  loss({ label: problem.labels[row] ?? 0, cost, curvature: lengths[row] ?? 1, duals }, changes);
  for (let target = 0; target < changes.length; target++) {
    const change = changes[target] ?? 0;
    if (Math.abs(change) < STEP_MIN * cost) changes[target] = 0;
    else duals[target] = (duals[target] ?? 0) + change;
  }
  addRow(state, row, changes);
}

function descend(
  state: State,
  members: Int32Array,
  { passes, seed }: { passes: number; seed: number },
): void {
  const random = seededRandom(seed);
  for (let pass = 0; pass < passes; pass++) {
    shuffle(members, members.length, random);
    for (const row of members) step(state, row);
  }
}

/** Scores the rows of one fold: removes their part of the full solution, trains on the other rows, then scores. */
function holdOut(full: State, fold: number, held: Float32Array): void {
  const state: State = { ...full, weights: full.weights.slice(), duals: full.duals.slice() };
  const { problem } = state;
  const all = Array.from({ length: problem.rows.count }, (_, row) => row);
  const out = all.filter((row) => problem.fold[row] === fold);
  for (const row of out) {
    const duals = dualsOf(state, row);
    addRow(
      state,
      row,
      duals.map((dual) => -dual),
    );
    duals.fill(0);
  }
  // Rows that are never held out and have no influence on the full solution have none without a few others either.
  const members = all.filter((row) => {
    const inFold = problem.fold[row] ?? -1;
    return inFold >= 0 ? inFold !== fold : dualsOf(state, row).some((dual) => dual !== 0);
  });
  descend(state, Int32Array.from(members), { passes: problem.foldPasses, seed: SEED + fold });
  for (const row of out) {
    held.set(scoresOf(rowAt(problem.rows, row), state.weights, problem.classes), row * problem.classes);
  }
}

/** Trains a linear model (L2) by dual coordinate descent. Each row is scored by a model that has not seen it. */
export function trainLinear(problem: Problem, loss: Loss): LinearModel {
  const { rows, classes } = problem;
  const state: State = {
    problem,
    loss,
    weights: new Float32Array((rows.width + 1) * classes),
    duals: new Float32Array(rows.count * classes),
    lengths: Float64Array.from({ length: rows.count }, (_, row) => 1 + squaredLength(rowAt(rows, row))),
  };
  const everyone = Int32Array.from({ length: rows.count }, (_, row) => row);
  descend(state, everyone, { passes: PASSES, seed: SEED });
  const held = new Float32Array(rows.count * classes);
  for (let fold = 0; fold < problem.folds; fold++) holdOut(state, fold, held);
  return { weights: state.weights, held };
}

/** A small generator with a fixed seed (mulberry32), so that the same input trains a byte-identical model. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffle(entries: Int32Array, length: number, random: () => number): void {
  for (let at = length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const kept = entries[at] ?? 0;
    entries[at] = entries[other] ?? 0;
    entries[other] = kept;
  }
}

type Labelled = Pick<Problem, "labels" | "costs" | "classes">;

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
