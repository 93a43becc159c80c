import { readLines } from "./data.ts";
import { accuracy, outcomes, route, train } from "./measure.ts";
import { mean, percent, report } from "./table.ts";

const SETS = ["autoj_en", "autoj_zh", "mtbench", "vicuna", "wizardlm", "belle_zh", "alignbench_zh"];
const TEMPLATES = ["coding", "summarization", "translation", "extraction", "writing", "math", "general"];

/** The built-in routes by name alone, on seven public sets of prompts. */
export async function starterPart(directory: string): Promise<void> {
  const model = train(TEMPLATES.map((name) => route(name)));
  const shares: number[] = [];
  let rejected = 0;
  let total = 0;
  for (const set of SETS) {
    const found = outcomes(model, await readLines(directory, `starter_${set}.jsonl`));
    const share = accuracy(found);
    shares.push(share);
    rejected += found.filter(({ score }) => score < model.threshold).length;
    total += found.length;
    const bar = set === "autoj_en" ? 0.86 : 0.75;
    report({
      what: `starter, ${set} (${found.length})`,
      ours: percent(share),
      bar: `≥ ${percent(bar)}`,
      met: share >= bar,
    });
  }
  report({
    what: "starter, mean of 7 sets",
    ours: percent(mean(shares)),
    bar: "≥ 84.0",
    met: mean(shares) >= 0.84,
  });
  report({ what: "starter, under the threshold", ours: percent(rejected / total), bar: "", met: null });
}
