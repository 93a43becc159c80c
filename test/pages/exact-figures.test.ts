import { expect, test } from "bun:test";
import { budgetBar } from "#gateway/pages/parts/budget-bar.tsx";
import { decimalsOf, percent, perMillionUsd, plainUsd } from "#gateway/pages/parts/format.ts";

test.each([
  ["0.0000025", "$2.50"],
  ["0.000015", "$15.00"],
  ["0.03", "$30,000.00"],
  ["0.00000000000125", "$0.00000125"],
  ["0", "$0.00"],
  ["1", "$1,000,000.00"],
])("a token at $%s is %s per million, to the last digit", (each, text) =>
  expect(perMillionUsd(each)).toBe(text),
);

test("a cost is told with every digit where its lines add up to it, without zeros at its end", () => {
  expect(["0.18001375", "0.338072500", "2", 0.5].map((usd) => plainUsd(usd))).toEqual([
    "$0.18001375",
    "$0.3380725",
    "$2.00",
    "$0.50",
  ]);
});

test.each([
  [0, "0 %"],
  [0.0001, "< 0.1 %"],
  [0.0005, "0.1 %"],
  [0.9994, "99.9 %"],
  [0.9999, "> 99.9 %"],
  [1, "100 %"],
  [1.25, "125 %"],
])("a share of %p is %p: nearly nothing is not nothing, nearly all is not all", (share, text) =>
  expect(percent(share).replaceAll("\u00a0", " ").replaceAll("\u202f", " ")).toBe(text),
);

test("amounts that stand below each other have as many decimals", () => {
  const all = ["1234567.5", "0.338072500", "-2"];
  expect(all.map((usd) => plainUsd(usd, decimalsOf(all)))).toEqual([
    "$1,234,567.5000000",
    "$0.3380725",
    "−$2.0000000",
  ]);
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
