import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Aggregates } from "#gateway/reports/aggregates.ts";
import { decompose } from "#gateway/reports/decompose.ts";
import { parseDecimal } from "#shared/decimal.ts";

type Facts = {
  users: number;
  requests: number;
  input: number;
  output: number;
  tokenUsd: string;
  otherUsd?: string;
  /** Calls without a price, besides `requests`. */
  unpriced?: number;
  floor?: boolean;
};

const sums = ({
  users,
  requests,
  input,
  output,
  tokenUsd,
  otherUsd = "0",
  unpriced = 0,
  floor = false,
}: Facts): Aggregates => ({
  floor,
  of: {
    billed_users: parseDecimal(`${users}`),
    billed_records: parseDecimal(`${requests + unpriced}`),
    unpriced: parseDecimal(`${unpriced}`),
    priced_input_tokens: parseDecimal(`${input}`),
    priced_output_tokens: parseDecimal(`${output}`),
    token_cost_usd: parseDecimal(tokenUsd),
    cost_usd: parseDecimal((Number(tokenUsd) + Number(otherUsd)).toFixed(6)),
  },
});

const BASE: Facts = { users: 10, requests: 1000, input: 400_000, output: 100_000, tokenUsd: "50" };
const NOTHING = {
  users: 0,
  requestsPerUser: 0,
  inputTokensPerRequest: 0,
  outputTokensPerRequest: 0,
  pricePerToken: 0,
};

const total = ({ parts, unmodelledUsd }: ReturnType<typeof decompose>) =>
  Object.values(parts).reduce((a, b) => a + b, unmodelledUsd);

test("calls without a price change no part: requests, tokens and prices are those of priced calls", () => {
  expect(decompose(sums(BASE), sums({ ...BASE, unpriced: 500 }))).toMatchObject({
    deltaUsd: 0,
    parts: NOTHING,
    unmodelledUsd: 0,
  });
});

describe("a change of one factor alone is that factor's part", () => {
  test.each<[string, Partial<Facts>, keyof typeof NOTHING, number]>([
    [
      "twice the people",
      { users: 20, requests: 2000, input: 800_000, output: 200_000, tokenUsd: "100" },
      "users",
      50,
    ],
    [
      "twice the requests",
      { requests: 2000, input: 800_000, output: 200_000, tokenUsd: "100" },
      "requestsPerUser",
      50,
    ],
    ["longer input", { input: 900_000, tokenUsd: "100" }, "inputTokensPerRequest", 50],
    ["shorter output", { output: 50_000, tokenUsd: "45" }, "outputTokensPerRequest", -5],
    ["half the price", { tokenUsd: "25" }, "pricePerToken", -25],
  ])("%s", (_, over, factor, usd) => {
    const { parts, unmodelledUsd } = decompose(sums(BASE), sums({ ...BASE, ...over }));
    for (const [name, value] of Object.entries(parts)) {
      expect([name, value]).toEqual([name, expect.closeTo(name === factor ? usd : 0, 9)]);
    }
    expect(unmodelledUsd).toBe(0);
  });
});

test("money that tokens do not explain is unmodelled, exactly", () => {
  const after = sums({ ...BASE, otherUsd: "0.3" });
  expect(decompose(sums({ ...BASE, otherUsd: "0.1" }), after)).toMatchObject({
    previousUsd: 50.1,
    currentUsd: 50.3,
    deltaUsd: 0.2,
    parts: NOTHING,
    unmodelledUsd: 0.2,
  });
});

test.each<[string, Partial<Facts>]>([
  ["no people", { users: 0 }],
  ["no requests", { requests: 0 }],
  ["no input", { input: 0 }],
  ["no output", { output: 0 }],
  ["no price", { tokenUsd: "0" }],
])("with %s in a window everything is unmodelled", (_, over) => {
  const [before, after] = [sums(BASE), sums({ ...BASE, tokenUsd: "70", ...over })];
  for (const found of [decompose(before, after), decompose(after, before)]) {
    expect([found.parts, found.unmodelledUsd]).toEqual([NOTHING, found.deltaUsd]);
  }
});

test("an unknown cost counts as nothing, and floor says so", () => {
  const unknown: Aggregates = { floor: true, of: { cost_usd: null, token_cost_usd: null } };
  expect(decompose(unknown, sums(BASE))).toMatchObject({ previousUsd: 0, deltaUsd: 50, floor: true });
  expect(decompose(sums(BASE), sums(BASE))).toMatchObject({ deltaUsd: 0, parts: NOTHING, floor: false });
});

const count = (max: number) => fc.integer({ min: 1, max });
const facts = fc.record({
  users: count(10_000),
  requests: count(1_000_000),
  input: count(2_000_000_000),
  output: count(2_000_000_000),
  tokenUsd: count(100_000_000).map((cents) => (cents / 1e4).toFixed(4)),
  otherUsd: fc.integer({ min: 0, max: 1_000_000 }).map((cents) => (cents / 1e4).toFixed(4)),
});

const PAIRS = { numRuns: 1_000 };

test("parts and unmodelled add up to the change to 1e-9, whatever the windows: 1,000 pairs", () => {
  fc.assert(
    fc.property(facts, facts, (before, after) => {
      const found = decompose(sums(before), sums(after));
      return Math.abs(total(found) - found.deltaUsd) < 1e-9;
    }),
    PAIRS,
  );
});

/** The factors that what input and what output costs are products of. */
const SHARED = ["users", "requestsPerUser", "pricePerToken"] as const;
const TERMS = {
  input: [...SHARED, "inputTokensPerRequest"],
  output: [...SHARED, "outputTokensPerRequest"],
} as const;
type Factor = (typeof TERMS)[keyof typeof TERMS][number];

function factorsOf({ users, requests, input, output, tokenUsd }: Facts): Record<Factor, number> {
  return {
    users,
    requestsPerUser: requests / users,
    inputTokensPerRequest: input / requests,
    outputTokensPerRequest: output / requests,
    pricePerToken: Number(tokenUsd) / (input + output),
  };
}

/** The same once more, factor by factor in the order given: each takes its share of what a term changed by. */
function inOrder(before: Facts, after: Facts, order: readonly Factor[]): Record<string, number> {
  const [old, now] = [factorsOf(before), factorsOf(after)];
  const parts: Record<string, number> = {};
  for (const term of Object.values(TERMS)) {
    const factors = order.filter((name) => term.some((one) => one === name));
    const product = (of: Record<Factor, number>) => factors.reduce((value, name) => value * of[name], 1);
    const [a, b] = [product(old), product(now)];
    // Near 1 the logarithm of a quotient has lost the digits that the bound below asks for.
    const growth = (b - a) / a;
    const logarithm = Math.abs(growth) < 0.5 ? Math.log1p(growth) : Math.log(b / a);
    const weight = growth === 0 ? a : (b - a) / logarithm;
    for (const name of factors) parts[name] = (parts[name] ?? 0) + weight * Math.log(now[name] / old[name]);
  }
  return parts;
}

test("the order in which factors are taken does not matter: 1,000 pairs, each in an order of its own", () => {
  const all = [...SHARED, "inputTokensPerRequest", "outputTokensPerRequest"] as const;
  const order = fc.shuffledSubarray([...all], { minLength: all.length });
  fc.assert(
    fc.property(facts, facts, order, (before, after, factors) => {
      const { parts, currentUsd, previousUsd } = decompose(sums(before), sums(after));
      const told = inOrder(before, after, factors);
      const bound = 1e-9 * Math.max(1, currentUsd, previousUsd);
      for (const [name, part] of Object.entries(parts)) {
        expect(Math.abs(part - (told[name] ?? 0))).toBeLessThan(bound);
      }
    }),
    PAIRS,
  );
});

test("swapping the windows turns every sign and nothing else", () => {
  fc.assert(
    fc.property(facts, facts, (before, after) => {
      const there = decompose(sums(before), sums(after));
      const back = decompose(sums(after), sums(before));
      return Object.entries(there.parts).every(
        ([name, value]) => Math.abs(value + back.parts[name as keyof typeof NOTHING]) < 1e-6,
      );
    }),
  );
});
