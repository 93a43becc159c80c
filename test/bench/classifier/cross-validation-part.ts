import { SEEDS, TASK_KINDS, templateFor } from "#gateway/classifier/kinds.ts";
import { heldKindScores } from "#gateway/classifier/starter.ts";
import { readLines } from "./data.ts";
import { accuracy, outcomes, route, sharedStarter, train } from "./measure.ts";
import { percent, report } from "./table.ts";

const TEMPLATES = ["coding", "summarization", "translation", "extraction", "writing", "math", "general"];
const NAMES = new Set(TEMPLATES);
/** Labels of the training prompts that have no template of their own here. */
const TAKEN_BY: Readonly<Record<string, string>> = {
  planning: "general",
  roleplay: "general",
  rewriting: "writing",
};

const highest = (scores: Float32Array): number => scores.indexOf(Math.max(...scores));

/** Figures that may guide a choice: out-of-fold accuracy on the built-in examples, and accuracy on training prompts. */
export async function crossValidationPart(directory: string): Promise<void> {
  const starter = sharedStarter();
  const right = SEEDS.map(({ kind, language }, at) => {
    const found = TASK_KINDS[highest(heldKindScores(starter, at))] ?? "general";
    return { language, isRight: templateFor(found, NAMES) === templateFor(kind, NAMES) };
  });
  const isOther = (language: string) => language !== "en" && language !== "zh";
  const groups = [
    ["English", (language: string) => language === "en"],
    ["Chinese", (language: string) => language === "zh"],
    ["12 other languages", isOther],
  ] as const;
  for (const [name, admits] of groups) {
    const group = right.filter(({ language }) => admits(language));
    const share = group.filter(({ isRight }) => isRight).length / group.length;
    report({ what: `built-in examples, out of fold, ${name}`, ours: percent(share), bar: "", met: null });
  }
  const prompts = await readLines(directory, "tasktype10_train.jsonl");
  const labelled = prompts.map(({ text, label }) => ({ text, label: TAKEN_BY[label] ?? label }));
  const model = train(TEMPLATES.map((name) => route(name)));
  const share = accuracy(outcomes(model, labelled));
  report({ what: "starter, Auto-J training prompts (1,758)", ours: percent(share), bar: "", met: null });
}
