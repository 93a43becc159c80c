import type { OwnTrial } from "./cross-validation.ts";
import type { TrainReport } from "./model.ts";
import type { TrainingSet } from "./training-set.ts";

/** With fewer examples per route, held-out accuracy is too uncertain to show. */
const EXAMPLES_MIN = 8;
const CONFUSED_MAX = 10;
const MISFITS_MAX = 20;

/** The report to the administrator, from the out-of-fold decisions on their own examples. */
export function reportOf({ classes, samples }: TrainingSet, trials: readonly OwnTrial[]): TrainReport {
  const nameOf = (label: number) => classes[label]?.name ?? "";
  const perRoute = new Map<number, number>();
  for (const { label, source } of samples) {
    if (source === "example") perRoute.set(label, (perRoute.get(label) ?? 0) + 1);
  }
  const own = trials.filter(({ row }) => samples[row]?.source === "example");
  const wrong = own.filter(({ correct }) => !correct);
  const pairs = new Map<string, { route: string; with: string; count: number }>();
  for (const { row, route } of wrong) {
    const pair = { route: nameOf(samples[row]?.label ?? -1), with: nameOf(route) };
    const key = `${pair.route} ${pair.with}`;
    pairs.set(key, { ...pair, count: (pairs.get(key)?.count ?? 0) + 1 });
  }
  const enough = own.length > 0 && [...perRoute.values()].every((count) => count >= EXAMPLES_MIN);
  return {
    accuracy: enough ? 1 - wrong.length / own.length : null,
    examples: [...perRoute.values()].reduce((sum, count) => sum + count, 0),
    confused: [...pairs.values()].sort((a, b) => b.count - a.count).slice(0, CONFUSED_MAX),
    misfits: wrong.slice(0, MISFITS_MAX).map(({ row, route }) => ({
      route: nameOf(samples[row]?.label ?? -1),
      exampleId: samples[row]?.id ?? "",
      looksLike: nameOf(route),
    })),
  };
}
