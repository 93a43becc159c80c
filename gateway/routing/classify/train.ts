import { trainMerged } from "./alike.ts";
import { foldsFor, hasFew, taskPasses } from "./effort.ts";
import { BLOCKS } from "./features.ts";
import { KINDS } from "./kinds.ts";
import { gatherMaterial, type Material, type Sample } from "./material.ts";
import { MODEL_FORMAT, type Model, type TrainInput } from "./model.ts";
import { reportOf } from "./report.ts";
import { type Rows, rowsOf } from "./rows.ts";
import { FEW_TOPIC_BLOCKS, kindColumns, TASK_BLOCKS, TOPIC_BLOCKS } from "./scored.ts";
import { roundedToHalf } from "./serialise.ts";
import { STARTER_BLOCKS, type Starter, trainStarter } from "./starter.ts";
import { trainOneVsRest } from "./svm.ts";
import { FEW_TOPIC_RARITY, trainTopics } from "./topics.ts";
import { foldsOf, sigmoidOf, thresholdOf, trialsOf } from "./trials.ts";
import { type BlockWeights, columnsOf, learnVocabulary, type Vocabulary, vectorOf } from "./vocabulary.ts";

/** Above this many texts, features that one text alone has are dropped: they only cost memory. */
const SINGLES_KEPT_UP_TO = 1200;
const NEAREST_PER_CLASS_MAX = 60;

function nearestOf({ classes, samples }: Material, rows: Rows): Model["nearest"] {
  const taken = new Map<number, number>();
  const picked: number[] = [];
  for (const [row, { label, source }] of samples.entries()) {
    const count = taken.get(label) ?? 0;
    if (source === "hint" || classes[label]?.kind !== "route" || count >= NEAREST_PER_CLASS_MAX) continue;
    taken.set(label, count + 1);
    picked.push(row);
  }
  const vectors = picked.map((row) => ({
    ids: rows.ids.subarray(rows.starts[row], rows.starts[row + 1]),
    values: rows.values.subarray(rows.starts[row], rows.starts[row + 1]),
  }));
  return {
    rows: rowsOf(vectors, rows.width),
    classOf: Int32Array.from(picked, (row) => samples[row]?.label ?? 0),
    ids: picked.map((row) => samples[row]?.id ?? ""),
  };
}

/** Which blocks count how much: routes that only bear templates' names are what the starter already tells apart. */
function blocksFor({ samples, oneKind }: Material, few: boolean): BlockWeights {
  if (samples.every(({ source }) => source === "builtin")) return STARTER_BLOCKS;
  if (!oneKind) return TASK_BLOCKS;
  return few ? FEW_TOPIC_BLOCKS : TOPIC_BLOCKS;
}

/** The features of all texts. Of a few examples of close topics, those are rare that few routes have. */
function vocabularyOf({ samples }: Material, seenMin: number, fewTopics: boolean): Vocabulary {
  if (!fewTopics)
    return learnVocabulary(
      samples.map(({ features }) => features),
      seenMin,
    );
  const sorted = samples.toSorted((one, other) => one.label - other.label);
  return learnVocabulary(
    sorted.map(({ features }) => features),
    seenMin,
    FEW_TOPIC_RARITY,
    sorted.map(({ label }) => label),
  );
}

/**
 * Trains the classifier of an administrator's routes. Pure and deterministic: the same routes (and the same build)
 * give a byte-identical model. About a second of one core for 20 routes of 50 examples; run it in a Worker.
 */
export function trainModel(input: TrainInput, starter: Starter = trainStarter()): Model {
  const material = gatherMaterial(starter, input);
  const { classes, samples, oneKind } = material;
  const few = hasFew(material);
  const folds = foldsFor(few);
  const blocks = blocksFor(material, few);
  const seenMin = blocks !== STARTER_BLOCKS && samples.length > SINGLES_KEPT_UP_TO ? 2 : 1;
  const vocabulary = vocabularyOf(material, seenMin, oneKind && few);
  const vectorFor = ({ features, kinds }: Sample, isTrained: boolean) =>
    vectorOf(features, vocabulary, blocks, kindColumns(kinds, blocks[BLOCKS.kinds]), isTrained);
  const width = columnsOf(vocabulary) + KINDS.length;
  const fold = foldsOf(material, folds);
  const vectors = samples.map((sample) => vectorFor(sample, false));
  // Texts that are never held out are scored by no model that has not seen them.
  const asNew = vectors.map((vector, row) =>
    (fold[row] ?? -1) < 0 ? vector : vectorFor(samples[row] as Sample, true),
  );
  const rows = rowsOf(vectors, width);
  const problem = {
    rows,
    trials: rowsOf(asNew, width),
    labels: Int32Array.from(samples, ({ label }) => label),
    costs: Float32Array.from(samples, ({ weight }) => weight),
    classes: classes.length,
    fold,
    folds,
  };
  const { weights, held } = trainMerged(problem, (merged) =>
    oneKind ? trainTopics(merged, few) : trainOneVsRest(merged, taskPasses(few)),
  );
  const known = asNew.map(({ known }) => known);
  const trials = trialsOf(material, held, known);
  return {
    format: MODEL_FORMAT,
    starter,
    vocabulary,
    blocks,
    classes,
    takers: material.takers,
    weights: roundedToHalf(weights),
    threshold: thresholdOf(material, trials.own, input.strictness),
    sigmoid: sigmoidOf(trials),
    nearest: nearestOf(material, rows),
    report: reportOf(material, trials.own, folds),
  };
}
