import { expect, test } from "bun:test";
import fc from "fast-check";
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

/** What a bill may leave out of its lines. */
const DETAIL = {
  nothing: {},
  tiers: { tier: null },
  units: { kind: null },
  models: { model: null },
  "models, units and tiers": { model: null, kind: null, tier: null },
};

test.each(Object.entries(DETAIL))(
  "a bill without %s that equals what was metered has no difference at all",
  (_, without) => {
    const cells = ["m", "n"].flatMap((model) =>
      ["input", "output", "cache_read", "cache_write_1h", "web_search"].flatMap((kind) =>
        ["standard", "batch"].map((tier) => ({ model, kind, tier })),
      ),
    );
    const bases = fc.constantFrom(["list"], ["contract"], ["list", "contract"], ["vendor", "list"]);
    const use = fc.option(
      fc.tuple(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 50 }), bases),
    );
    const worlds = fc.tuple(...cells.map(() => use));
    fc.assert(
      fc.property(worlds, (uses) => {
        const records = cells.flatMap((cell, i) => {
          const [count, price, own] = uses[i] ?? [0, 0, []];
          return own.map((basis) => ({
            ...{ ...metered, ...cell, basis: basis as typeof metered.basis },
            ...{ quantity: String(count), costUsd: String(count * price) },
          }));
        });
        const placed = records.map((record) => {
          const { model, kind, tier }: Record<"model" | "kind" | "tier", string | null> = {
            ...record,
            ...without,
          };
          // Fees are in no sum of tokens.
          const isCounted = kind !== null || record.kind !== "web_search";
          return { record, place: { model, kind, tier }, count: isCounted ? Number(record.quantity) : 0 };
        });
        const lines = [...Map.groupBy(placed, ({ place }) => JSON.stringify(place)).values()].map((those) => {
          const sum = (of: (one: (typeof those)[number]) => number) =>
            String(those.reduce((all, one) => all + of(one), 0));
          return {
            ...line(
              sum(({ count }) => count),
              sum(({ record }) => Number(record.costUsd)),
            ),
            ...those[0]?.place,
          };
        });
        expect(partsOf(lines, records)).toEqual({});
      }),
      { numRuns: 100, seed: 42 },
    );
  },
);
