/**
 * Measures the classifier against public sets of labelled prompts that are not part of the product:
 *   bun test/bench/classifier/run.ts --data DIR [--parts cross,starter,tasktype,own,scope,clinc,banking,speed] [--draws 5]
 */
import { parseArgs } from "node:util";
import { crossValidationPart } from "./cross-validation-part.ts";
import { bankingPart, clincPart } from "./intents-part.ts";
import { scopePart } from "./scope-part.ts";
import { speedPart } from "./speed-part.ts";
import { starterPart } from "./starter-part.ts";
import { summary } from "./table.ts";
import { tasktypePart } from "./tasktype-part.ts";

const PARTS: Record<string, (directory: string, draws: number) => Promise<void>> = {
  cross: crossValidationPart,
  starter: starterPart,
  tasktype: (directory, draws) => tasktypePart(directory, draws, false),
  own: (directory, draws) => tasktypePart(directory, draws, true),
  scope: scopePart,
  clinc: clincPart,
  banking: bankingPart,
  speed: speedPart,
};

const { values } = parseArgs({
  options: { data: { type: "string" }, parts: { type: "string" }, draws: { type: "string", default: "5" } },
});
if (values.data === undefined) throw new Error("--data DIR is missing: the folder of labelled prompts");
for (const part of values.parts?.split(",") ?? Object.keys(PARTS)) {
  const run = PARTS[part];
  if (!run) throw new Error(`--parts: ${part} is unknown; parts are ${Object.keys(PARTS).join(", ")}`);
  await run(values.data, Number(values.draws));
}
console.log(summary());
