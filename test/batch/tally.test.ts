import { expect, test } from "bun:test";
import { batchTally } from "#gateway/batch/tally.ts";
import { FREE, type Priced, type Reading, UNPRICED } from "#gateway/reading.ts";
import { NO_USAGE } from "#shared/usage.ts";

const reading = (input: number | null, model = "m"): Reading => ({
  usage: { ...NO_USAGE, uncachedInputTokens: input, outputTokens: input },
  usageSource: input === null ? "none" : "provider",
  responseModel: model,
  serviceTier: null,
  reportedCostUsd: null,
});
const priced = (costUsd: string, count = 1): Priced => ({
  costUsd,
  tokenCostUsd: costUsd,
  price: { entry: "list", rows: [{ unit: "input", count, usdPerUnit: "0.1" }] },
});

test("answers add up exactly, and their price rows too", () => {
  const sum = batchTally();
  for (let n = 0; n < 10; n++)
    sum.add({ reading: reading(3), priced: priced("0.1"), discounted: priced("0.05") });
  const done = sum.done();
  expect(done.priced).toEqual({
    costUsd: "1",
    tokenCostUsd: "1",
    price: { entry: "list", rows: [{ unit: "input", count: 10, usdPerUnit: "0.1" }] },
  });
  expect(done).toMatchObject({ answers: 10, partial: false, discounted: { costUsd: "0.5" } });
  expect(done.reading).toMatchObject({ usageSource: "provider", responseModel: "m" });
  expect(done.reading.usage).toMatchObject({ uncachedInputTokens: 30, outputTokens: 30, images: null });
});

test("an answer without a price makes the cost a lower bound, and none at all is unknown", () => {
  const sum = batchTally();
  sum.add({ reading: reading(1), priced: priced("0.1"), discounted: UNPRICED });
  sum.add({ reading: reading(null, "other"), priced: UNPRICED, discounted: UNPRICED });
  expect(sum.done()).toMatchObject({
    partial: true,
    priced: { costUsd: "0.1" },
    reading: { usageSource: "partial", responseModel: null },
  });
  const unknown = batchTally();
  unknown.add({ reading: reading(null), priced: UNPRICED, discounted: UNPRICED });
  expect(unknown.done()).toMatchObject({
    partial: false,
    priced: UNPRICED,
    reading: { usageSource: "none" },
  });
});

test("the discounted sum is unknown unless every answer has such a price", () => {
  const sum = batchTally();
  sum.add({ reading: reading(1), priced: priced("0.1"), discounted: priced("0.05") });
  sum.add({ reading: reading(1), priced: priced("0.1"), discounted: UNPRICED });
  expect(sum.done()).toMatchObject({ priced: { costUsd: "0.2" }, discounted: UNPRICED });
});

test("an answer that tells only a part of what is billed makes the batch's cost a lower bound", () => {
  const sum = batchTally();
  sum.add({ reading: reading(1), priced: priced("0.1"), discounted: UNPRICED });
  sum.add({
    reading: { ...reading(1), usageSource: "partial" },
    priced: priced("0.1"),
    discounted: UNPRICED,
  });
  expect(sum.done()).toMatchObject({ partial: true, reading: { usageSource: "partial" } });
});

test("a batch without answers cost nothing, and that is known", () => {
  expect(batchTally().done().priced).toEqual(FREE);
});

test("the list's cost stays beside that of own prices, and is unknown if the list lacks a price", () => {
  const own = (listCostUsd: string | null): Priced => ({ ...priced("0.1"), basis: "contract", listCostUsd });
  const sum = batchTally();
  sum.add({ reading: reading(1), priced: own("0.3"), discounted: UNPRICED });
  sum.add({ reading: reading(1), priced: priced("0.1"), discounted: UNPRICED });
  expect(sum.done().priced).toMatchObject({ costUsd: "0.2", listCostUsd: "0.4" });
  sum.add({ reading: reading(1), priced: own(null), discounted: UNPRICED });
  expect(sum.done().priced).toMatchObject({ costUsd: "0.3", listCostUsd: null });
});
