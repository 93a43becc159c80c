import { type BlockWeights, TUNING } from "#gateway/classifier/tuning.ts";
import {
  heldOutScope,
  type Prompts,
  QUARTERS,
  readPrompts,
  taskAccuracy,
  topicAccuracy,
} from "./held-out.ts";
import {
  FOLDS,
  featuresOfAll,
  type Judged,
  judgedTexts,
  marginOf,
  seedsOutside,
  trainKinds,
} from "./judge.ts";
import { mean, percent } from "./table.ts";

type Tuning = typeof TUNING;
type Name = keyof Tuning;
/** The figure that a number is chosen by, one per fold. */
type Objective = () => number[];

const FACTORS = [0.5, 0.75, 1.33, 2];
const NUMBERS = {
  kinds: [
    "starterBlocks",
    "unseenShare",
    "zoneHead",
    "zoneTail",
    "earlyCharacters",
    "earlyUnspaced",
    "svmCost",
    "svmBalance",
  ],
  tasks: [
    "taskBlocks",
    "partWeight",
    "besideOwn",
    "hiddenWeight",
    "hiddenMax",
    "coveredShare",
    "adoptShare",
    "adoptShareTop",
    "namesakeShare",
  ],
  topics: ["topicBlocks", "topicCost", "topicBalance"],
  scope: ["hiddenShare", "takenShare", "hiddenWeight", "hiddenMax"],
} as const satisfies Record<string, readonly Name[]>;
type Group = keyof typeof NUMBERS;
export const GROUPS = Object.keys(NUMBERS) as Group[];

/** Other values of a number, or of the numbers of a list one after the other. */
function alternativesTo(value: number | BlockWeights): (number | BlockWeights)[] {
  if (typeof value === "number") return FACTORS.map((factor) => Number((factor * value).toPrecision(3)));
  return value.flatMap((one, at) =>
    one === 0
      ? []
      : alternativesTo(one).map((other) => value.with(at, Number(other)) as unknown as BlockWeights),
  );
}

function kindsObjective(texts: readonly Judged[]): Objective {
  return () => {
    const features = featuresOfAll(texts);
    return Array.from({ length: FOLDS }, (_, fold) => {
      const score = trainKinds(seedsOutside(texts, [fold]), features);
      const right = texts.flatMap((text, at) => {
        const one = features[at];
        return one && text.fold === fold ? [Number(marginOf(score(one), text.template) > 0)] : [];
      });
      return mean(right);
    });
  };
}

function objectiveOf(group: Group, texts: readonly Judged[], prompts: Prompts): Objective {
  if (group === "kinds") return kindsObjective(texts);
  const measure = { tasks: taskAccuracy, topics: topicAccuracy, scope: heldOutScope }[group];
  return () => QUARTERS.map((quarter) => measure(prompts, quarter));
}

type Candidate = { value: Tuning[Name]; scores: number[] };

/** Chooses on all folds but one, and reads off that one: what choosing is worth on texts that it has not seen. */
function crossValidated(candidates: readonly Candidate[]): number {
  const folds = candidates[0]?.scores.length ?? 0;
  const chosen = Array.from({ length: folds }, (_, held) => {
    const others = ({ scores }: Candidate) => mean(scores.filter((_score, fold) => fold !== held));
    const best = candidates.toSorted((a, b) => others(b) - others(a))[0];
    return best?.scores[held] ?? 0;
  });
  return mean(chosen);
}

/** Tries other values of each number of a group, and prints the current figure, the best one, and what choosing it is worth. */
export async function selectNumbers(directory: string, group: Group): Promise<void> {
  const objective = objectiveOf(group, await judgedTexts(directory), await readPrompts(directory));
  const now = objective();
  console.log(`${group}: ${percent(mean(now))}`);
  for (const name of NUMBERS[group]) {
    const value = TUNING[name];
    const candidates: Candidate[] = [{ value, scores: now }];
    for (const other of alternativesTo(value)) {
      Object.assign(TUNING, { [name]: other });
      candidates.push({ value: other, scores: objective() });
    }
    Object.assign(TUNING, { [name]: value });
    const best = candidates.toSorted((a, b) => mean(b.scores) - mean(a.scores))[0];
    const gain = crossValidated(candidates) - mean(now);
    console.log(
      `  ${name.padEnd(16)} now ${JSON.stringify(value)}, best ${JSON.stringify(best?.value)}: +${percent(mean(best?.scores ?? []) - mean(now))} seen, ${percent(gain)} cross-validated`,
    );
  }
}
