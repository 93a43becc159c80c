/**
 * Tries by cross-validation, on training data only, whether fewer lexicon entries, fewer built-in examples or other numbers
 * would do better on texts that the choice has not seen. Test sets are not read:
 *   bun test/bench/classifier/select.ts --data DIR [--what lexicon,seeds,kinds,tasks,topics,scope]
 */
import { parseArgs } from "node:util";
import { selectEntries } from "./select-lexicon.ts";
import { GROUPS, selectNumbers } from "./select-numbers.ts";
import { selectSeeds } from "./select-seeds.ts";

const PARTS: Record<string, (directory: string) => Promise<void>> = {
  lexicon: selectEntries,
  seeds: selectSeeds,
};
for (const group of GROUPS) PARTS[group] = (directory) => selectNumbers(directory, group);

const { values } = parseArgs({ options: { data: { type: "string" }, what: { type: "string" } } });
if (values.data === undefined) throw new Error("--data DIR is missing: the folder of labelled prompts");
for (const part of values.what?.split(",") ?? Object.keys(PARTS)) {
  const run = PARTS[part];
  if (!run) throw new Error(`--what: ${part} is unknown; parts are ${Object.keys(PARTS).join(", ")}`);
  await run(values.data);
}
