import { join } from "node:path";
import { seededRandom } from "#gateway/classifier/linear.ts";
import { draw, readLines } from "./data.ts";
import { accuracy, areaUnderCurve, outcomes, recallAt, route, train } from "./measure.ts";
import { mean, percent, report } from "./table.ts";

const INSIDE = 6;

/** Six of ten kinds of task are routes; prompts of the other four are foreign, and nothing foreign is trained on. */
export async function scopePart(directory: string, draws: number): Promise<void> {
  const training = await readLines(directory, "tasktype10_train.jsonl");
  const test = await readLines(directory, "tasktype10_test.jsonl");
  const descriptions = (await Bun.file(join(directory, "tt_descriptions.json")).json()) as Record<
    string,
    string
  >;
  for (const examples of [5, 10, 50]) {
    const results = Array.from({ length: draws }, (_, run) => {
      const random = seededRandom(2000 + run);
      const order = Object.keys(descriptions)
        .map((name) => ({ name, at: random() }))
        .sort((a, b) => a.at - b.at);
      const inside = new Set(order.slice(0, INSIDE).map(({ name }) => name));
      const drawn = draw(training, examples, random);
      const model = train(
        [...inside].map((name) =>
          route(name, { description: descriptions[name] ?? "", examples: drawn.get(name) ?? [] }),
        ),
      );
      const found = outcomes(
        model,
        test.filter(({ label }) => inside.has(label)),
      );
      const foreign = outcomes(
        model,
        test.filter(({ label }) => !inside.has(label)),
      ).map(({ score }) => score);
      const scores = found.map(({ score }) => score);
      const kept = found.filter(({ score }) => score >= model.threshold);
      return {
        auroc: areaUnderCurve(scores, foreign),
        recall: recallAt(0.05, scores, foreign),
        before: accuracy(found),
        after: kept.filter(({ label, route: name }) => label === name).length / found.length,
        rejected: 1 - kept.length / found.length,
        foreignRejected: foreign.filter((score) => score < model.threshold).length / foreign.length,
      };
    });
    const of = (pick: (result: (typeof results)[number]) => number) => mean(results.map(pick));
    const auroc = of(({ auroc }) => auroc);
    const recall = of(({ recall }) => recall);
    report({
      what: `6 of 10 routes, ${examples} examples: AUROC / recall @5 %`,
      ours: `${percent(auroc)} / ${percent(recall)}`,
      bar: examples === 50 ? "≥ 91.0 / 65.0" : "",
      met: examples === 50 ? auroc >= 0.91 && recall >= 0.65 : null,
    });
    report({
      what: "  own threshold: in scope lost / foreign caught",
      ours: `${percent(of((r) => r.rejected))} / ${percent(of((r) => r.foreignRejected))}`,
      bar: "",
      met: null,
    });
    report({
      what: "  accuracy in scope: before / after threshold",
      ours: `${percent(of((r) => r.before))} / ${percent(of((r) => r.after))}`,
      bar: "",
      met: null,
    });
  }
}
