import { join } from "node:path";
import { seededRandom } from "#gateway/classifier/linear.ts";
import { draw, type Labelled, readClinc, readCsv, readLines } from "./data.ts";
import { accuracy, areaUnderCurve, outcomes, route, train } from "./measure.ts";
import { mean } from "./table.ts";

/** Training prompts are held out by quarters. */
export const QUARTERS = [0, 1, 2, 3];

/** Training prompts of the public sets, and what their labels mean. No test set is among them. */
export type Prompts = { tasks: Labelled[]; descriptions: Record<string, string>; topics: Labelled[][] };

export async function readPrompts(directory: string): Promise<Prompts> {
  return {
    tasks: await readLines(directory, "tasktype10_train.jsonl"),
    descriptions: (await Bun.file(join(directory, "tt_descriptions.json")).json()) as Record<string, string>,
    topics: [
      await readCsv(directory, "banking_train.csv"),
      (await readClinc(directory, "clinc_data_full.json")).train,
    ],
  };
}

/** Every fourth prompt, which is held out, and the others. */
const split = (lines: readonly Labelled[], quarter: number) => ({
  held: lines.filter((_, at) => at % QUARTERS.length === quarter),
  rest: lines.filter((_, at) => at % QUARTERS.length !== quarter),
});

const described = (label: string, { descriptions }: Prompts) =>
  descriptions[label] ?? label.replaceAll("_", " ");

/** Routes with `examples` training prompts each. */
function routesFor(prompts: Prompts, lines: readonly Labelled[], examples: number) {
  return [...draw(lines, examples, seededRandom(examples))].map(([name, texts]) =>
    route(name, { description: described(name, prompts), examples: texts }),
  );
}

/** Accuracy on a quarter of the prompts, with `examples` each of the other prompts. */
export function heldOutAccuracy(
  prompts: Prompts,
  lines: readonly Labelled[],
  { quarter, examples }: { quarter: number; examples: number },
): number {
  const { held, rest } = split(lines, quarter);
  return accuracy(outcomes(train(routesFor(prompts, rest, examples)), held));
}

const INSIDE = 6;

/** How well six of the ten kinds of task are separated from the other four (area under the curve), on a quarter of the prompts. */
export function heldOutScope(prompts: Prompts, quarter: number): number {
  const { held, rest } = split(prompts.tasks, quarter);
  const names = Object.keys(prompts.descriptions);
  const inside = new Set(Array.from({ length: INSIDE }, (_, at) => names[(3 * quarter + at) % names.length]));
  const isInside = ({ label }: Labelled) => inside.has(label);
  const model = train(routesFor(prompts, rest.filter(isInside), 50));
  const scores = (lines: readonly Labelled[]) => outcomes(model, lines).map(({ score }) => score);
  return areaUnderCurve(scores(held.filter(isInside)), scores(held.filter((line) => !isInside(line))));
}

/** The mean accuracy with 10 and 50 examples of each kind of task. */
export const taskAccuracy = (prompts: Prompts, quarter: number): number =>
  mean([10, 50].map((examples) => heldOutAccuracy(prompts, prompts.tasks, { quarter, examples })));

/** The mean accuracy with 10 examples of each close topic. */
export const topicAccuracy = (prompts: Prompts, quarter: number): number =>
  mean(prompts.topics.map((lines) => heldOutAccuracy(prompts, lines, { quarter, examples: 10 })));
