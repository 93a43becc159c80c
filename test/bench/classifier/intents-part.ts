import { seededRandom } from "#gateway/classifier/linear.ts";
import { draw, type Labelled, readClinc, readCsv } from "./data.ts";
import { accuracy, areaUnderCurve, outcomes, recallAt, route, train } from "./measure.ts";
import { mean, percent, report } from "./table.ts";

const ALL = 10_000;

function intentModel(lines: readonly Labelled[], examples: number, seed: number, described: boolean) {
  const drawn = draw(lines, examples, seededRandom(seed));
  return train(
    [...drawn].map(([name, texts]) =>
      route(name, { description: described ? name.replaceAll("_", " ") : "", examples: texts }),
    ),
  );
}

/** CLINC150: 150 narrow intents, with real out-of-scope questions. */
export async function clincPart(directory: string, draws: number): Promise<void> {
  const bars = {
    full: { acc: 0.94, auroc: 0.955, recall: 0.82 },
    small: { acc: 0.925, auroc: 0.95, recall: 0 },
  };
  for (const [size, bar] of Object.entries(bars)) {
    const data = await readClinc(directory, `clinc_data_${size}.json`);
    const model = intentModel(data.train, ALL, 1, false);
    const found = outcomes(model, data.test);
    const threshold = outcomes(model, data.val).map(({ score }) => score);
    const foreign = outcomes(model, data.oos_test).map(({ score }) => score);
    const right = accuracy(found);
    const auroc = areaUnderCurve(
      found.map(({ score }) => score),
      foreign,
    );
    const recall = recallAt(0.05, threshold, foreign);
    report({
      what: `CLINC150 ${size}: accuracy / AUROC / recall @5 %`,
      ours: `${percent(right)} / ${percent(auroc)} / ${percent(recall)}`,
      bar: `≥ ${percent(bar.acc)} / ${percent(bar.auroc)}${bar.recall ? ` / ${percent(bar.recall)}` : ""}`,
      met: right >= bar.acc && auroc >= bar.auroc && recall >= bar.recall,
    });
  }
  const data = await readClinc(directory, "clinc_data_full.json");
  const few = mean(
    Array.from({ length: draws }, (_, run) =>
      accuracy(outcomes(intentModel(data.train, 10, run, true), data.test)),
    ),
  );
  report({ what: "CLINC150, 10 examples + name", ours: percent(few), bar: "≥ 86.0", met: few >= 0.86 });
}

/** BANKING77: 77 intents of one bank, semantically close. */
export async function bankingPart(directory: string, draws: number): Promise<void> {
  const training = await readCsv(directory, "banking_train.csv");
  const test = await readCsv(directory, "banking_test.csv");
  const few = mean(
    Array.from({ length: draws }, (_, run) => accuracy(outcomes(intentModel(training, 10, run, true), test))),
  );
  report({ what: "BANKING77, 10 examples + name", ours: percent(few), bar: "≥ 79.0", met: few >= 0.79 });
  const full = accuracy(outcomes(intentModel(training, ALL, 1, true), test));
  report({ what: "BANKING77, all", ours: percent(full), bar: "≥ 92.5", met: full >= 0.925 });
}
