import {
  foldPassesFor,
  foldsOf,
  outOfFoldTrials,
  reportOf,
  sigmoidOf,
  thresholdOf,
} from "./cross-validation.ts";
import { SOFTMAX_SCALE, softmaxLoss, svmLoss, trainLinear } from "./linear.ts";
import { MODEL_FORMAT, type Model, type TrainInput } from "./model.ts";
import { type Rows, rowAt, rowsOf, unitVector } from "./sparse.ts";
import { roundedToHalf, type Starter, trainStarter } from "./starter.ts";
import { type TrainingSet, trainingSetOf } from "./training-set.ts";
import { type BlockWeights, TUNING } from "./tuning.ts";
import { columnsOf, learnVocabulary, vectorOf } from "./vocabulary.ts";

const FOLDS = 5;

/** Above this many texts, features that only one text has are dropped: they cost memory and cannot generalise. */
const SINGLES_KEPT_UP_TO = 1200;
const NEAREST_PER_CLASS_MAX = 60;

/** Routes without texts of their own use the blocks of the starter, which already separates them. */
function blocksFor({ samples, oneKind }: TrainingSet): BlockWeights {
  if (samples.every(({ source }) => source === "builtin")) return TUNING.starterBlocks;
  return oneKind ? TUNING.topicBlocks : TUNING.taskBlocks;
}

/** The examples that explanations may point at. */
function nearestOf({ classes, samples }: TrainingSet, rows: Rows): Model["nearest"] {
  const taken = new Map<number, number>();
  const kept = [...samples.entries()].filter(([, { label, source }]) => {
    const count = taken.get(label) ?? 0;
    if (source === "hint" || classes[label]?.kind !== "route" || count >= NEAREST_PER_CLASS_MAX) return false;
    taken.set(label, count + 1);
    return true;
  });
  return {
    rows: rowsOf(
      kept.map(([row]) => unitVector(rowAt(rows, row))),
      rows.width,
    ),
    classOf: Int32Array.from(kept, ([, { label }]) => label),
    ids: kept.map(([, { id }]) => id),
  };
}

/**
 * Trains the classifier of an administrator's routes. Pure and deterministic: the same routes and the same build give a
 * byte-identical model. About a second of one core for 20 routes of 50 examples; run it in a thread of its own.
 */
export function trainModel(input: TrainInput, starter: Starter = trainStarter()): Model {
  const set = trainingSetOf(starter, input);
  const { classes, samples, oneKind } = set;
  const blocks = blocksFor(set);
  const seenMin = blocks !== TUNING.starterBlocks && samples.length > SINGLES_KEPT_UP_TO ? 2 : 1;
  const vocabulary = learnVocabulary(
    samples.map(({ features }) => features),
    seenMin,
  );
  const vectors = samples.map((sample) => vectorOf(sample, vocabulary, blocks));
  const problem = {
    rows: rowsOf(vectors, columnsOf(vocabulary)),
    labels: Int32Array.from(samples, ({ label }) => label),
    costs: Float32Array.from(samples, ({ weight }) => weight),
    classes: classes.length,
    fold: foldsOf(set, FOLDS),
    folds: FOLDS,
    foldPasses: foldPassesFor(set),
  };
  // The SVM is better at kinds of task, logistic regression at many close topics.
  const { weights, held } = trainLinear(problem, oneKind ? softmaxLoss(problem) : svmLoss(problem));
  const scale = oneKind ? SOFTMAX_SCALE : 1;
  const trials = outOfFoldTrials(
    set,
    held.map((score) => scale * score),
  );
  return {
    format: MODEL_FORMAT,
    starter,
    vocabulary,
    blocks,
    classes,
    takers: set.takers,
    weights: roundedToHalf(weights.map((weight) => scale * weight)),
    threshold: thresholdOf(set, trials.own, input.strictness),
    sigmoid: sigmoidOf(trials),
    nearest: nearestOf(set, problem.rows),
    report: reportOf(set, trials.own),
  };
}
