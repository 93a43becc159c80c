import { seededRandom, shuffle } from "./random.ts";
import { addScores, type Rows } from "./rows.ts";

/** A problem of many classes. `labels[r]` is the class of row r; `costs[r]` what an error on it costs. */
export type Problem = {
  rows: Rows;
  /** The rows as if training had not seen them: what is scored when they are held out. */
  trials: Rows;
  labels: Int32Array;
  costs: Float32Array;
  classes: number;
  /** 0 … folds − 1 for rows that are held out in turn, −1 for rows that always train. */
  fold: Int8Array;
  folds: number;
};

/**
 * How often the rows are gone through: for the model at most, and once more for each fold that is held out. A fold begins
 * at the full solution less what its rows gave; `isFresh`: at nothing, since the other rows still bear what they were
 * taught beside those.
 */
export type Passes = { full: number; fold: number; isFresh?: boolean };

/** `weights[id * classes + c]`; the last id (`rows.width`) is the bias. `held[r * classes + c]`: the out-of-fold score. */
export type LinearModel = { weights: Float32Array; held: Float32Array };

const PASSES: Passes = { full: 10, fold: 1 };
const SEED = 20_261_121;
/** Steps smaller than this share of a row's cost are left out: most classes are out of the question for most rows. */
const STEP_MIN = 1e-4;

/** Brings log-odds to about the size of a margin machine's decision values, so that both are decided alike. */
const SCALE = 1 / 4;

/** What training works on. `given[r * classes + c]`: how much row r gives to the weights of class c. */
type State = { problem: Problem; lengths: Float64Array; weights: Float32Array; given: Float32Array };

/** A row's score for every class, by the weights as they are. */
function scoreRow({ problem, weights }: State, rows: Rows, row: number, scores: Float64Array): void {
  const { classes } = problem;
  const bias = rows.width * classes;
  for (let c = 0; c < classes; c++) scores[c] = weights[bias + c] as number;
  addScores(rows, rows.starts[row] as number, rows.starts[row + 1] as number, weights, scores);
}

/** Scores to probabilities, in place. */
function normalise(scores: Float64Array): void {
  let high = Number.NEGATIVE_INFINITY;
  for (const score of scores) high = Math.max(high, score);
  let sum = 0;
  for (let c = 0; c < scores.length; c++) {
    const power = Math.exp((scores[c] as number) - high);
    scores[c] = power;
    sum += power;
  }
  for (let c = 0; c < scores.length; c++) scores[c] = (scores[c] as number) / sum;
}

/** Adds to the weights of `count` classes what a row gives them. */
function give(state: State, row: number, moved: Int32Array, count: number, steps: Float64Array): void {
  const { rows, classes } = state.problem;
  const { weights } = state;
  const { ids, values } = rows;
  const end = rows.starts[row + 1] as number;
  for (let at = rows.starts[row] as number; at <= end; at++) {
    const isBias = at === end;
    const value = isBias ? 1 : (values[at] as number);
    const base = (isBias ? rows.width : (ids[at] as number)) * classes;
    for (let one = 0; one < count; one++) {
      const place = base + (moved[one] as number);
      weights[place] = (weights[place] as number) + value * (steps[one] as number);
    }
  }
}

/** Room for one row's work, so that nothing is allocated in the loops. */
type Desk = { scores: Float64Array; moved: Int32Array; steps: Float64Array };
const deskOf = (classes: number): Desk => ({
  scores: new Float64Array(classes),
  moved: new Int32Array(classes),
  steps: new Float64Array(classes),
});

/**
 * Moves what a row gives towards cost · (truth − probability), damped by the row's curvature: a class's probability moves
 * by a quarter of its score at most.
 */
function step(state: State, row: number, { scores, moved, steps }: Desk): void {
  const { labels, costs, classes } = state.problem;
  scoreRow(state, state.problem.rows, row, scores);
  normalise(scores);
  const cost = costs[row] as number;
  const damping = 1 / (1 + (cost * (state.lengths[row] as number)) / 4);
  let count = 0;
  for (let c = 0; c < classes; c++) {
    const target = cost * ((labels[row] === c ? 1 : 0) - (scores[c] as number));
    const change = damping * (target - (state.given[row * classes + c] as number));
    if (Math.abs(change) < STEP_MIN * cost) continue;
    state.given[row * classes + c] = (state.given[row * classes + c] as number) + change;
    moved[count] = c;
    steps[count] = change;
    count++;
  }
  give(state, row, moved, count, steps);
}

function descend(state: State, members: Int32Array, passes: number, random: () => number): void {
  const order = Int32Array.from(members);
  const desk = deskOf(state.problem.classes);
  for (let pass = 0; pass < passes; pass++) {
    shuffle(order, order.length, random);
    for (const row of order) step(state, row, desk);
  }
}

function squaredLengths(rows: Rows): Float64Array {
  const lengths = new Float64Array(rows.count).fill(1);
  for (let row = 0; row < rows.count; row++) {
    for (let at = rows.starts[row] ?? 0; at < (rows.starts[row + 1] ?? 0); at++)
      lengths[row] = (lengths[row] ?? 0) + (rows.values[at] ?? 0) ** 2;
  }
  return lengths;
}

/** Scores the rows of one fold by a model that is trained, or trained on, without them. */
function holdOut(begun: State, fold: number, passes: number, held: Float32Array): void {
  const { problem } = begun;
  const { rows, classes } = problem;
  const state: State = { ...begun, weights: begun.weights.slice(), given: begun.given.slice() };
  const { scores, moved, steps } = deskOf(classes);
  for (let c = 0; c < classes; c++) moved[c] = c;
  const out: number[] = [];
  const members: number[] = [];
  for (let row = 0; row < rows.count; row++) (problem.fold[row] === fold ? out : members).push(row);
  for (const row of out) {
    for (let c = 0; c < classes; c++) steps[c] = -(state.given[row * classes + c] as number);
    give(state, row, moved, classes, steps);
  }
  descend(state, Int32Array.from(members), passes, seededRandom(SEED + fold));
  for (const row of out) {
    scoreRow(state, problem.trials, row, scores);
    held.set(scores, row * classes);
  }
}

/**
 * Trains multinomial logistic regression (L2) by dual coordinate ascent (Shalev-Shwartz and Zhang, JMLR 2013), and
 * scores every row of a fold by a model that did not see it. Deterministic: a fixed number of passes in a fixed order.
 */
export function trainSoftmax(problem: Problem, passes: Passes = PASSES): LinearModel {
  const { rows, classes } = problem;
  const lengths = squaredLengths(rows);
  const begin = (): State => ({
    problem,
    lengths,
    weights: new Float32Array((rows.width + 1) * classes),
    given: new Float32Array(rows.count * classes),
  });
  const state = begin();
  const everyone = Int32Array.from({ length: rows.count }, (_, row) => row);
  descend(state, everyone, passes.full, seededRandom(SEED));
  const held = new Float32Array(rows.count * classes);
  const begun = passes.isFresh ? begin() : state;
  for (let fold = 0; fold < problem.folds; fold++) holdOut(begun, fold, passes.fold, held);
  const scaled = (values: Float32Array) => values.map((value) => value * SCALE);
  return { weights: scaled(state.weights), held: scaled(held) };
}
