import { type Features, featuresOf } from "#gateway/classifier/features.ts";
import { SEEDS, TASK_KINDS, type TaskKind, templateFor } from "#gateway/classifier/kinds.ts";
import { svmLoss, trainLinear } from "#gateway/classifier/linear.ts";
import { rowsOf } from "#gateway/classifier/sparse.ts";
import { kindScores } from "#gateway/classifier/starter.ts";
import { TUNING } from "#gateway/classifier/tuning.ts";
import { columnsOf, learnVocabulary, vectorOf } from "#gateway/classifier/vocabulary.ts";
import { readLines } from "./data.ts";
import { percent } from "./table.ts";

export const FOLDS = 5;
/** Neighbouring built-in examples were written together and resemble each other: they are held out together. */
const NEIGHBOURS = 10;

/** Routes of the visible sets, which have no template of their own for some kinds. */
export const TEMPLATES = [
  "coding",
  "summarization",
  "translation",
  "extraction",
  "writing",
  "math",
  "general",
];
const NAMES = new Set(TEMPLATES);
const TAKEN_BY: Readonly<Record<string, string>> = {
  planning: "general",
  roleplay: "general",
  rewriting: "writing",
};
export const templateOf = (label: string): string => TAKEN_BY[label] ?? label;

/** A text that a choice may rest on. `seed`: its place among the built-in examples; −1 for a training prompt of Auto-J. */
export type Judged = { text: string; template: string; fold: number; seed: number; group: string };

const groupOf = (language: string) => (language === "en" || language === "zh" ? language : "other");

/** The built-in examples and the training prompts of Auto-J, each in a fold. No test set is among them. */
export async function judgedTexts(directory: string): Promise<Judged[]> {
  const prompts = await readLines(directory, "tasktype10_train.jsonl");
  return [
    ...SEEDS.map(({ text, kind, language }, seed) => ({
      text,
      template: templateFor(kind, NAMES) ?? kind,
      fold: Math.floor(seed / NEIGHBOURS) % FOLDS,
      seed,
      group: groupOf(language),
    })),
    ...prompts.map(({ text, label }, at) => ({
      text,
      template: templateOf(label),
      fold: at % FOLDS,
      seed: -1,
      group: "Auto-J",
    })),
  ];
}

type Scorer = (features: Features) => Float64Array;

/** A model of the built-in examples at these places. */
export function trainKinds(places: readonly number[], features: readonly Features[]): Scorer {
  const chosen = places.flatMap((place) => features[place] ?? []);
  const vocabulary = learnVocabulary(chosen, 1);
  const vectors = chosen.map((one) =>
    vectorOf({ features: one, kinds: [] }, vocabulary, TUNING.starterBlocks),
  );
  const problem = {
    rows: rowsOf(vectors, columnsOf(vocabulary)),
    labels: Int32Array.from(places, (place) => TASK_KINDS.indexOf(SEEDS[place]?.kind ?? "general")),
    costs: new Float32Array(places.length).fill(1),
    classes: TASK_KINDS.length,
    fold: new Int8Array(places.length).fill(-1),
    folds: 0,
    foldPasses: 0,
  };
  const { weights } = trainLinear(problem, svmLoss(problem));
  return (one) => kindScores({ vocabulary, weights, held: new Float32Array(0) }, one);
}

const TEMPLATE_OF_KIND = TASK_KINDS.map((kind: TaskKind) => templateFor(kind, NAMES));

/** How far the right template is ahead of the best other one; negative where the text goes to the wrong one. */
export function marginOf(scores: ArrayLike<number>, template: string): number {
  let [right, wrong] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let kind = 0; kind < scores.length; kind++) {
    const score = scores[kind] ?? 0;
    if (TEMPLATE_OF_KIND[kind] === template) right = Math.max(right, score);
    else wrong = Math.max(wrong, score);
  }
  return right - wrong;
}

/** What a margin costs: a smooth count of errors, so that small shifts count, too. */
export const lossOf = (margin: number): number => Math.log1p(Math.exp(-3 * margin));

export const featuresOfAll = (texts: readonly Judged[]): Features[] =>
  texts.map(({ text }) => featuresOf(text));

/** The built-in examples outside these folds. */
export const seedsOutside = (texts: readonly Judged[], folds: readonly number[]): number[] =>
  texts.flatMap(({ seed, fold }) => (seed >= 0 && !folds.includes(fold) ? [seed] : []));

/** Which features the models of a fold see, and the built-in examples that they train on. */
export type Choice = { features: readonly Features[]; places: readonly number[] };

/** Prints the accuracy per group and overall, each fold scored by a model of what was chosen without it. */
export function reportChoice(what: string, texts: readonly Judged[], choose: (fold: number) => Choice): void {
  const right = new Map<string, boolean[]>();
  for (let fold = 0; fold < FOLDS; fold++) {
    const { features, places } = choose(fold);
    const score = trainKinds(places, features);
    for (const [at, { group, template, ...text }] of texts.entries()) {
      const one = features[at];
      if (!one || text.fold !== fold) continue;
      const isRight = marginOf(score(one), template) > 0;
      for (const name of [group, "all"]) right.set(name, [...(right.get(name) ?? []), isRight]);
    }
  }
  const figures = [...right].map(
    ([name, all]) => `${name} ${percent(all.filter(Boolean).length / all.length)}`,
  );
  console.log(`  ${what.padEnd(34)} ${figures.sort().join("  ")}`);
}
