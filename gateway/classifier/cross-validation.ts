import { fitSigmoid, quantile, SIGMOID_ASSUMED, type Sigmoid, type Trial } from "./calibration.ts";
import { decide } from "./decide.ts";
import type { TrainReport } from "./model.ts";
import { evenlySampled, type Sample, type TrainingSet } from "./training-set.ts";

/** Below this many measured texts the threshold is a fixed one. */
const TRIALS_MIN = 10;
const THRESHOLD_ASSUMED = -0.8;
/** With up to this many examples per route each one matters: without a fold of them, training takes longer to settle. */
const FEW_EXAMPLES = 20;
const FOLD_PASSES = { few: 10, many: 3 };

/** Whether there are enough of the administrator's examples to measure confidence and threshold on. If not, the built-in ones are used. */
const hasOwn = (samples: readonly Sample[]) =>
  samples.filter(({ source }) => source === "example").length >= TRIALS_MIN;

/** The fold of each text that is held out once, assigned in turn within each class; −1 for texts that are always trained on. */
export function foldsOf({ classes, samples }: TrainingSet, folds: number): Int8Array {
  const isOwn = hasOwn(samples);
  const turn = new Map<number, number>();
  return Int8Array.from(samples, ({ label, source }) => {
    const isForeign = classes[label]?.kind === "hidden";
    if (source === "hint" || (source === "builtin" && isOwn && !isForeign)) return -1;
    const at = turn.get(label) ?? 0;
    turn.set(label, at + 1);
    return at % folds;
  });
}

/** How many passes a model makes over the examples that remain when a fold is taken out. */
export function foldPassesFor({ classes, samples }: TrainingSet): number {
  const routes = classes.filter(({ kind }) => kind === "route").length;
  const examples = samples.filter(({ source }) => source === "example").length;
  return examples > 0 && examples <= FEW_EXAMPLES * routes ? FOLD_PASSES.few : FOLD_PASSES.many;
}

/** What a model that had not seen a text decided. `row`: the text's; `route`: the class decided for. */
type OwnTrial = Trial & { row: number; route: number };
type Trials = { own: OwnTrial[]; foreign: Trial[] };

/**
 * Out-of-fold decisions on the administrator's examples, or on the built-in ones if there are too few; and as many on
 * built-in texts that no route takes. Every route is wrong for those, so that confidence is low for foreign texts.
 */
export function outOfFoldTrials(set: TrainingSet, held: Float32Array): Trials {
  const { classes, samples } = set;
  const decisionOn = ({ kinds }: Sample, row: number) =>
    decide(set, { scores: held.subarray(row * classes.length, (row + 1) * classes.length), kinds }, null);
  const measured = hasOwn(samples) ? "example" : "builtin";
  const own = samples.flatMap((sample, row) => {
    const expected = classes[sample.label];
    if (sample.source !== measured || expected?.kind !== "route") return [];
    const { best, score } = decisionOn(sample, row);
    return [{ row, route: best, score, correct: classes[best]?.name === expected.name }];
  });
  const hidden = samples.flatMap((sample, row) =>
    classes[sample.label]?.kind === "hidden" ? [{ sample, row }] : [],
  );
  const foreign = evenlySampled(hidden, own.length).map(({ sample, row }) => ({
    score: decisionOn(sample, row).score,
    correct: false,
  }));
  return { own, foreign };
}

/** The score under which a text goes to the default route. `strictness`: the share of fitting texts that may. */
export function thresholdOf({ samples }: TrainingSet, trials: readonly Trial[], strictness: number): number {
  if (trials.length < TRIALS_MIN) return THRESHOLD_ASSUMED;
  const measured = quantile(
    trials.map(({ score }) => score),
    strictness,
  );
  const own = samples.filter(({ source }) => source === "example").length;
  // Built-in examples score higher than texts of a route that has a few examples only: it must not lose them all.
  return own > 0 && own < TRIALS_MIN ? Math.min(measured, THRESHOLD_ASSUMED) : measured;
}

/** Turns scores into confidence: fitted to the trials, or assumed if there are too few. */
export const sigmoidOf = ({ own, foreign }: Trials): Sigmoid =>
  own.length >= TRIALS_MIN ? fitSigmoid([...own, ...foreign]) : SIGMOID_ASSUMED;

/** With fewer examples per route, held-out accuracy is too uncertain to show. */
const EXAMPLES_MIN = 8;
const CONFUSED_MAX = 10;
const MISFITS_MAX = 20;

/** The report to the administrator, from the out-of-fold decisions on their own examples. */
export function reportOf({ classes, samples }: TrainingSet, trials: readonly OwnTrial[]): TrainReport {
  const nameOf = (label: number) => classes[label]?.name ?? "";
  const perRoute = new Map<number, number>();
  for (const { label, source } of samples) {
    if (source === "example") perRoute.set(label, (perRoute.get(label) ?? 0) + 1);
  }
  const own = trials.filter(({ row }) => samples[row]?.source === "example");
  const wrong = own.filter(({ correct }) => !correct);
  const pairs = new Map<string, { route: string; with: string; count: number }>();
  for (const { row, route } of wrong) {
    const pair = { route: nameOf(samples[row]?.label ?? -1), with: nameOf(route) };
    const key = `${pair.route} ${pair.with}`;
    pairs.set(key, { ...pair, count: (pairs.get(key)?.count ?? 0) + 1 });
  }
  const enough = own.length > 0 && [...perRoute.values()].every((count) => count >= EXAMPLES_MIN);
  return {
    accuracy: enough ? 1 - wrong.length / own.length : null,
    examples: [...perRoute.values()].reduce((sum, count) => sum + count, 0),
    confused: [...pairs.values()].sort((a, b) => b.count - a.count).slice(0, CONFUSED_MAX),
    misfits: wrong.slice(0, MISFITS_MAX).map(({ row, route }) => ({
      route: nameOf(samples[row]?.label ?? -1),
      exampleId: samples[row]?.id ?? "",
      looksLike: nameOf(route),
    })),
  };
}
