import { difference, type Exact, ZERO } from "#shared/decimal.ts";
import type { Decomposition } from "#shared/report.ts";
import type { AggregateName, Aggregates } from "./aggregates.ts";
import { toNumber } from "./quotient.ts";

type Parts = Decomposition["parts"];

const NO_PARTS: Parts = {
  users: 0,
  requestsPerUser: 0,
  inputTokensPerRequest: 0,
  outputTokensPerRequest: 0,
  pricePerToken: 0,
};

/**
 * Why the cost changed between two windows. What tokens cost is users × requests/user × (input/request +
 * output/request) × price/token, all of them over calls of known cost; each factor's part is its logarithmic change, weighted with the logarithmic mean of
 * the two costs (LMDI-I: no residue, and swapping the windows only turns the signs). The rest of the cost, and all of it
 * where a factor is 0 or unknown, is unmodelled. Unknown costs count as 0 here, and `floor` says so.
 */
export function decompose(previous: Aggregates, current: Aggregates): Decomposition {
  const cost = { before: exact(previous, "cost_usd"), after: exact(current, "cost_usd") };
  const tokens = { before: exact(previous, "token_cost_usd"), after: exact(current, "token_cost_usd") };
  const deltaUsd = change(cost);
  const parts = partsOf(factorsOf(previous), factorsOf(current), toNumber(change(tokens)));
  const unmodelled = parts ? difference(deltaUsd, change(tokens)) : deltaUsd;
  return {
    previousUsd: toNumber(cost.before),
    currentUsd: toNumber(cost.after),
    deltaUsd: toNumber(deltaUsd),
    parts: parts ?? NO_PARTS,
    unmodelledUsd: toNumber(unmodelled),
    floor: previous.floor || current.floor,
  };
}

const exact = (sums: Aggregates, name: AggregateName): Exact => sums.of[name] ?? ZERO;

const change = ({ before, after }: { before: Exact; after: Exact }): Exact => difference(after, before);

/** The factors of one window's token cost, and what its input and its output cost. */
type Factors = { factors: Parts; inputUsd: number; outputUsd: number };

/** Null where a factor is 0: it has no logarithm. */
function factorsOf(sums: Aggregates): Factors | null {
  const number = (name: AggregateName) => toNumber(exact(sums, name));
  // Calls without a price have no part in the cost, nor have their tokens, nor people who made no others.
  const users = toNumber(sums.of.priced_users ?? exact(sums, "billed_users"));
  const requests = number("billed_records") - number("unpriced");
  const input = number("priced_input_tokens");
  const output = number("priced_output_tokens");
  const usd = number("token_cost_usd");
  if (!(users > 0 && requests > 0 && input > 0 && output > 0 && usd > 0)) return null;
  const pricePerToken = usd / (input + output);
  const factors = {
    users,
    requestsPerUser: requests / users,
    inputTokensPerRequest: input / requests,
    outputTokensPerRequest: output / requests,
    pricePerToken,
  };
  return { factors, inputUsd: input * pricePerToken, outputUsd: output * pricePerToken };
}

function partsOf(before: Factors | null, after: Factors | null, deltaUsd: number): Parts | null {
  if (!before || !after) return null;
  const input = logMean(before.inputUsd, after.inputUsd);
  const output = logMean(before.outputUsd, after.outputUsd);
  const part = (name: keyof Parts, weight: number) =>
    weight * Math.log(after.factors[name] / before.factors[name]);
  const parts = {
    users: part("users", input + output),
    requestsPerUser: part("requestsPerUser", input + output),
    inputTokensPerRequest: part("inputTokensPerRequest", input),
    outputTokensPerRequest: part("outputTokensPerRequest", output),
    pricePerToken: part("pricePerToken", input + output),
  };
  // In exact arithmetic the parts add up by themselves; the last digits of floats go where they weigh least.
  const largest = (Object.keys(parts) as (keyof Parts)[]).reduce((a, b) =>
    Math.abs(parts[b]) > Math.abs(parts[a]) ? b : a,
  );
  const sum = Object.values(parts).reduce((a, b) => a + b, 0);
  return { ...parts, [largest]: parts[largest] + (deltaUsd - sum) };
}

/** (b − a) ÷ ln(b ÷ a), and a where both are the same. */
export function logMean(a: number, b: number): number {
  const growth = (b - a) / a;
  if (growth === 0) return a;
  // Each way of taking the logarithm is exact only where the other is not: near 1, and far from it.
  const logarithm = Math.abs(growth) < 0.5 ? Math.log1p(growth) : Math.log(b / a);
  return (b - a) / logarithm;
}
