import { expect, test } from "bun:test";
import { budgetBar } from "#gateway/pages/parts/budget-bar.tsx";
import { exactUsd, perMillionUsd } from "#gateway/pages/parts/format.ts";

test.each([
  ["0.0000025", "$2.5"],
  ["0.000015", "$15"],
  ["0.03", "$30000"],
  ["0.00000000000125", "$0.00000125"],
  ["0", "$0"],
  ["1", "$1000000"],
])("a token at $%s is %s per million, to the last digit", (each, text) =>
  expect(perMillionUsd(each)).toBe(text),
);

test("a cost is told with every digit where its lines add up to it", () => {
  expect(exactUsd("0.18001375")).toBe("$0.18001375");
});

test("budgets that are exceeded by different amounts have different bars, with a mark at the budget", () => {
  expect(budgetBar(0.5, 1)).toEqual({ used: 50, over: 0, mark: null });
  const bars = [1.25, 1.29, 1].map((share) => budgetBar(share, 1.29));
  expect(bars.map(({ used, over }) => [used, over].map((it) => Math.round(it * 10) / 10))).toEqual([
    [77.5, 19.4],
    [77.5, 22.5],
    [77.5, 0],
  ]);
  expect(new Set(bars.map(({ mark }) => mark)).size).toBe(1);
  expect(budgetBar(40, 40)).toEqual({ used: 50, over: 50, mark: 50 });
});
