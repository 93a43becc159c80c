import { describe, expect, test } from "bun:test";
import { trainMerged } from "#gateway/routing/classify/alike.ts";
import { seededRandom } from "#gateway/routing/classify/random.ts";
import { rowsOf } from "#gateway/routing/classify/rows.ts";
import { type Problem, trainSoftmax } from "#gateway/routing/classify/softmax.ts";
import { trainOneVsRest } from "#gateway/routing/classify/svm.ts";

const [COLUMNS, DOUBLED, ROWS, CLASSES] = [30, 10, 60, 3];

/** Rows that have a third of the columns each; the first ten stand there a second time, after all others. */
function problemOf(random: () => number): Problem {
  const vectors = Array.from({ length: ROWS }, () => {
    const own = Array.from({ length: COLUMNS }, (_, at) => at).filter(() => random() < 1 / 3);
    const values = own.map(() => 0.1 + random() / 2);
    const again = own.flatMap((id, at) => (id < DOUBLED ? [[COLUMNS + id, values[at] ?? 0] as const] : []));
    return {
      ids: Int32Array.from([...own, ...again.map(([id]) => id)]),
      values: Float32Array.from([...values, ...again.map(([, value]) => value)]),
    };
  });
  const rows = rowsOf(vectors, COLUMNS + DOUBLED);
  return {
    rows,
    trials: rows,
    labels: Int32Array.from({ length: ROWS }, () => Math.floor(random() * CLASSES)),
    costs: new Float32Array(ROWS).fill(1),
    classes: CLASSES,
    fold: Int8Array.from({ length: ROWS }, (_, row) => row % 5),
    folds: 5,
  };
}

describe("columns that all rows have alike, trained as one", () => {
  for (const [name, train] of [
    ["one against the rest", (problem: Problem) => trainOneVsRest(problem)],
    ["all together", trainSoftmax],
  ] as const) {
    test(`give the weights and held-out scores of training them apart: ${name}`, () => {
      for (let seed = 1; seed <= 20; seed++) {
        const problem = problemOf(seededRandom(seed));
        const apart = train(problem);
        const merged = trainMerged(problem, train);
        for (const [at, weight] of apart.weights.entries()) expect(merged.weights[at]).toBeCloseTo(weight, 3);
        for (const [at, score] of apart.held.entries()) expect(merged.held[at]).toBeCloseTo(score, 3);
      }
    });
  }

  test("have one and the same weight", () => {
    const { weights } = trainMerged(problemOf(seededRandom(7)), trainSoftmax);
    for (let at = 0; at < DOUBLED * CLASSES; at++)
      expect(weights[COLUMNS * CLASSES + at]).toBe(weights[at] ?? 0);
  });
});
