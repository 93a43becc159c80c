import { decide, scoreText } from "#gateway/classifier/decide.ts";
import type { Model, RouteInput } from "#gateway/classifier/model.ts";
import { type Starter, trainStarter } from "#gateway/classifier/starter.ts";
import { trainModel } from "#gateway/classifier/train.ts";
import type { Labelled } from "./data.ts";

let starter: Starter | null = null;
/** The starter, trained once a run. */
export function sharedStarter(): Starter {
  starter ??= trainStarter();
  return starter;
}

export const route = (name: string, more: Partial<RouteInput> = {}): RouteInput => ({
  name,
  description: "",
  examples: [],
  keywords: [],
  ...more,
});

export const train = (routes: readonly RouteInput[], strictness: 0.02 | 0.05 | 0.1 = 0.05): Model =>
  trainModel({ routes, strictness }, sharedStarter());

export type Outcome = { label: string; route: string; score: number };

/** Classifies every text; the threshold is not applied. */
export function outcomes(model: Model, lines: readonly Labelled[]): Outcome[] {
  return lines.map(({ text, label }) => {
    const { best, score } = decide(model, scoreText(model, text), null);
    return { label, route: model.classes[best]?.name ?? "", score };
  });
}

export const accuracy = (found: readonly Outcome[]) =>
  found.filter(({ label, route: name }) => label === name).length / found.length;

export function macroRecall(found: readonly Outcome[]): number {
  const labels = [...new Set(found.map(({ label }) => label))];
  const recalls = labels.map((label) => accuracy(found.filter((one) => one.label === label)));
  return recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length;
}

/** The chance that an in-scope text scores above a foreign one (area under the ROC curve). */
export function areaUnderCurve(inside: readonly number[], outside: readonly number[]): number {
  const all = [
    ...inside.map((score) => ({ score, inside: true })),
    ...outside.map((score) => ({ score, inside: false })),
  ];
  all.sort((a, b) => a.score - b.score);
  let foreign = 0;
  let area = 0;
  for (const { inside: isInside } of all) {
    if (isInside) area += foreign;
    else foreign++;
  }
  return area / (inside.length * outside.length);
}

/** Share of foreign texts under the score that `rejected` of the in-scope ones fall under. */
export function recallAt(rejected: number, inside: readonly number[], outside: readonly number[]): number {
  const sorted = [...inside].sort((a, b) => a - b);
  const threshold = sorted[Math.floor(rejected * sorted.length)] ?? 0;
  return outside.filter((score) => score < threshold).length / outside.length;
}
