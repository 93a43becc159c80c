import { describe, expect, test } from "bun:test";
import { estimateAccuracy } from "#gateway/routing/classify/estimate.ts";
import { seededRandom } from "#gateway/routing/classify/random.ts";

const TASKS = { oneKind: false, folds: 10 };

/** Decisions whose margins are spread evenly from 0 to 2, right as often as a sigmoid of them says. */
function trialsOf(count: number, seed: number, offset = -0.2) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const margin = 2 * random();
    return { margin, correct: random() < 1 / (1 + Math.exp(-(1.75 * margin + offset))) };
  });
}
const share = (trials: readonly { correct: boolean }[]) =>
  trials.filter(({ correct }) => correct).length / trials.length;
const spread = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
};

describe("the estimate of accuracy", () => {
  test("is unknown, not 0, without a decision", () => {
    expect(estimateAccuracy([], TASKS)).toBeNull();
  });

  test("is 1 where there is one route alone", () => {
    expect(estimateAccuracy([{ margin: null, correct: true }], TASKS)).toBe(1);
  });

  test("of a hundred decisions varies by chance a quarter less than their share of right ones", () => {
    const runs = Array.from({ length: 100 }, (_, seed) => trialsOf(100, seed + 1));
    const estimates = runs.map((trials) => estimateAccuracy(trials, TASKS) ?? 0);
    expect(spread(estimates)).toBeLessThan(0.75 * spread(runs.map(share)));
  });

  test("follows many decisions, whatever is believed beforehand", () => {
    for (const offset of [-1.5, 1.5]) {
      const trials = trialsOf(20_000, 1, offset);
      expect(estimateAccuracy(trials, { oneKind: false, folds: 100 })).toBeCloseTo(share(trials), 2);
    }
  });

  test("expects a little more of all examples than of those that a fold leaves", () => {
    const trials = trialsOf(200, 1);
    const of = (folds: number) => estimateAccuracy(trials, { oneKind: true, folds }) ?? 0;
    expect(of(5)).toBeGreaterThan(of(10));
    expect(of(10)).toBeGreaterThan(of(1000));
    expect(of(2)).toBeLessThanOrEqual(1);
  });
});
