import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decompose } from "#gateway/reports/decompose.ts";
import { fractionOf } from "#gateway/reports/fraction.ts";
import type { Sums } from "#gateway/reports/measures.ts";

type Facts = {
  users: number;
  requests: number;
  input: number;
  output: number;
  tokenUsd: string;
  otherUsd?: string;
  floor?: boolean;
};

const sums = ({ users, requests, input, output, tokenUsd, otherUsd = "0", floor = false }: Facts): Sums => ({
  floor,
  of: {
    billed_users: fractionOf(`${users}`),
    billed_records: fractionOf(`${requests}`),
    priced_input_tokens: fractionOf(`${input}`),
    priced_output_tokens: fractionOf(`${output}`),
    token_cost_usd: fractionOf(tokenUsd),
    cost_usd: fractionOf((Number(tokenUsd) + Number(otherUsd)).toFixed(6)),
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
  const unknown: Sums = { floor: true, of: { cost_usd: null, token_cost_usd: null } };
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

test("parts and unmodelled add up to the change to 1e-9, whatever the windows", () => {
  fc.assert(
    fc.property(facts, facts, (before, after) => {
      const found = decompose(sums(before), sums(after));
      return Math.abs(total(found) - found.deltaUsd) < 1e-9;
    }),
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
