import { expect, test } from "bun:test";
import { takeApart } from "#gateway/bills/take-apart.ts";
import { formatDecimal } from "#shared/decimal.ts";

const line = (quantity: string, amount: string) => ({
  ...{ orgId: "default", account: "a", day: "2026-11-01", line: 0, category: "usage" as const, item: "m in" },
  ...{ model: "m", kind: "input", tier: "standard", key: null, currency: "USD", rate: "1", quantity, amount },
});
const metered = {
  ...{ model: "m", kind: "input", tier: "standard", basis: "list" as const, unpriced: false, partial: false },
  ...{ inBill: true, inUtc: true, atEdge: false, quantity: "1000", costUsd: "5" },
};

test.each([
  ["takes back what was used", [line("1000", "5"), line("-400", "-2")], { taxes_and_credits: "-2" }],
  [
    "corrects a wrong line",
    [line("1000", "6"), line("-1000", "-6"), line("1000", "4")],
    { price_list: "-1" },
  ],
  ["takes back what it never billed", [line("-400", "-2")], { taxes_and_credits: "-2", unexplained: "-5" }],
  ["takes back all", [line("1000", "5"), line("-1000", "-5")], { taxes_and_credits: "-5" }],
  ["takes back what was not used", [line("1500", "7.5"), line("-500", "-2.5")], {}],
  [
    "takes back some, and leaves out more",
    [line("500", "2.5"), line("-100", "-0.5")],
    { taxes_and_credits: "-0.5", unexplained: "-2.5" },
  ],
  [
    "counts something beside tokens, of what it does not name",
    [line("600", "3"), { ...line("7", "2"), kind: null }],
    {},
  ],
])("a bill that %s is explained", (_, lines, expected) => {
  expect(partsOf(lines, [metered])).toEqual(expected);
});

test("a bill without units is compared by sums: prices of a contract and of the list do not make up for each other", () => {
  const dear = { ...metered, basis: "contract" as const, kind: "output", costUsd: "50" };
  const whole = (amount: string) => [{ ...line("2000", amount), kind: null }];
  expect(partsOf(whole("55"), [metered, dear])).toEqual({});
  expect(partsOf(whole("44"), [metered, dear])).toEqual({ price_list: "-1", price_contract: "-10" });
  // The vendor charges the contract's price for all of the same.
  const same = { ...metered, basis: "contract" as const, costUsd: "4" };
  expect(partsOf([line("2000", "8")], [metered, same])).toEqual({ price_list: "-1" });
});

type Takes = Parameters<typeof takeApart>;
function partsOf(lines: Takes[0], records: Takes[1]) {
  const { parts } = takeApart(lines, records, null);
  const named = Object.entries(parts).map(([name, usd]) => [name, formatDecimal(usd)]);
  return Object.fromEntries(named.filter(([, usd]) => usd !== "0"));
}
