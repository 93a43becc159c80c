import { join } from "node:path";
import { seededRandom } from "#gateway/classifier/linear.ts";
import { draw, type Labelled, readLines } from "./data.ts";
import { accuracy, macroRecall, outcomes, route, train } from "./measure.ts";
import { mean, percent, report } from "./table.ts";

const BARS = [
  { examples: 0, accuracy: 0.68, recall: null },
  { examples: 5, accuracy: 0.73, recall: null },
  { examples: 10, accuracy: 0.76, recall: null },
  { examples: 50, accuracy: 0.8, recall: null },
  { examples: 1000, accuracy: 0.85, recall: 0.78 },
] as const;
const ZH_BAR = 0.68;
const TYPO_SHARE = 0.15;

/** Swaps two neighbouring letters in a share of the words. */
export function withTypos(text: string, random: () => number): string {
  return text.replace(/\p{L}{4,}/gu, (word) => {
    if (random() >= TYPO_SHARE) return word;
    const at = 1 + Math.floor(random() * (word.length - 2));
    return `${word.slice(0, at)}${word[at + 1] ?? ""}${word[at] ?? ""}${word.slice(at + 2)}`;
  });
}

/**
 * Ten kinds of task from real prompts, with descriptions and 0 to all examples. `own` gives the routes names that no
 * template has, as an administrator with names of their own would.
 */
export async function tasktypePart(directory: string, draws: number, own: boolean): Promise<void> {
  const training = await readLines(directory, "tasktype10_train.jsonl");
  const descriptions = (await Bun.file(join(directory, "tt_descriptions.json")).json()) as Record<
    string,
    string
  >;
  const names = Object.keys(descriptions);
  const nameOf = (label: string) => (own ? `route-${names.indexOf(label)}` : label);
  const renamed = (lines: Labelled[]) => lines.map(({ text, label }) => ({ text, label: nameOf(label) }));
  const test = renamed(await readLines(directory, "tasktype10_test.jsonl"));
  const chinese = renamed(await readLines(directory, "tasktype10_test_zh.jsonl"));
  const mangled = test.map(({ text, label }, at) => ({ text: withTypos(text, seededRandom(at)), label }));
  const kind = own ? "own names" : "template names";

  for (const bar of BARS) {
    const runs = bar.examples === 0 || bar.examples > 500 ? 1 : draws;
    const results = Array.from({ length: runs }, (_, run) => {
      const examples = draw(training, bar.examples, seededRandom(1000 + run));
      const model = train(
        names.map((label) =>
          route(nameOf(label), {
            description: descriptions[label] ?? "",
            examples: examples.get(label) ?? [],
          }),
        ),
      );
      const found = outcomes(model, test);
      const typos = bar.examples === 50 ? accuracy(outcomes(model, mangled)) : null;
      return {
        accuracy: accuracy(found),
        recall: macroRecall(found),
        chinese: accuracy(outcomes(model, chinese)),
        typos,
        estimate: model.report.accuracy,
      };
    });
    const right = mean(results.map((result) => result.accuracy));
    const recall = mean(results.map((result) => result.recall));
    const target =
      bar.recall === null
        ? `≥ ${percent(bar.accuracy)}`
        : `≥ ${percent(bar.accuracy)} / ${percent(bar.recall)}`;
    report({
      what: `tasktype10 ${bar.examples === 1000 ? "all" : bar.examples} + description, ${kind}`,
      ours: `${percent(right)} / ${percent(recall)}`,
      bar: target,
      met: right >= bar.accuracy && (bar.recall === null || recall >= bar.recall),
    });
    if (bar.examples === 50) {
      const zh = mean(results.map((result) => result.chinese));
      report({
        what: `tasktype10 zh, English examples (50), ${kind}`,
        ours: percent(zh),
        bar: `≥ ${percent(ZH_BAR)}`,
        met: zh >= ZH_BAR,
      });
      const loss = right - mean(results.map(({ typos }) => typos ?? 0));
      report({
        what: `typos in 15 % of words, ${kind}`,
        ours: `−${percent(loss)}`,
        bar: "≤ 3 points",
        met: loss <= 0.03,
      });
    }
    if (bar.examples >= 10) {
      const gap = Math.abs(right - mean(results.map(({ estimate }) => estimate ?? 0)));
      report({
        what: `  cross-validated estimate off by, ${kind}`,
        ours: percent(gap),
        bar: "≤ 5 points",
        met: gap <= 0.05,
      });
    }
  }
}
