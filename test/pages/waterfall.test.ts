import { expect, test } from "bun:test";
import { stepsOf } from "#gateway/pages/parts/charts/waterfall-steps.ts";
import type { Decomposition } from "#shared/report.ts";

const decomposition = (parts: Partial<Decomposition["parts"]>, unmodelledUsd = 0): Decomposition => {
  const all = {
    users: 0,
    requestsPerUser: 0,
    inputTokensPerRequest: 0,
    outputTokensPerRequest: 0,
    pricePerToken: 0,
    ...parts,
  };
  const deltaUsd = Object.values(all).reduce((sum, usd) => sum + usd, unmodelledUsd);
  return {
    previousUsd: 1000,
    currentUsd: 1000 + deltaUsd,
    deltaUsd,
    parts: all,
    unmodelledUsd,
    floor: false,
  };
};

test("the bars of a waterfall lead from the cost before to the cost now without a gap, small causes too", () => {
  const parts = decomposition({ users: 500, requestsPerUser: -0.5, pricePerToken: 0.25 }, -0.125);
  const steps = stepsOf(parts, "Before", "Now");
  expect(steps.map(({ label }) => label)).toEqual([
    "Before",
    "More people",
    "Fewer calls each",
    "Price per token",
    "Not explained",
    "Now",
  ]);
  const ends = steps.map(({ to }) => to);
  expect(steps.slice(1, -1).map(({ from }) => from)).toEqual(ends.slice(0, -2));
  expect(ends.at(-2)).toBe(parts.currentUsd);
});
