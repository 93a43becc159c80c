import { GatewayError } from "../../errors.ts";
import { fullest } from "../../limits/budget-use.ts";
import { parsePico } from "../../limits/money.ts";
import type { Grant, Limiter } from "./limiter.ts";

/** Admits a call if its key's limits and the budgets of its team and of the teams above it all do; it counts in each. */
export const withTeamBudgets = (limiter: Limiter): Limiter => ({
  ...limiter,
  reserve(call, demandOf) {
    const { teamBudgets } = call.key;
    if (teamBudgets.length === 0) return limiter.reserve(call, demandOf);
    const demand = demandOf();
    const accounts = [call.key, ...teamBudgets.map((budget) => ({ ...call.key, ...budget }))];
    return allOf(accounts.map((key) => limiter.reserve({ ...call, key }, () => demand)));
  },
});

/** One grant for all, or the first refusal: then those that were granted are released. */
async function allOf(asked: readonly ReturnType<Limiter["reserve"]>[]): Promise<Grant | GatewayError> {
  const answers = await Promise.all(asked);
  const grants = answers.flatMap((answer) => (answer instanceof GatewayError ? [] : [answer]));
  const release = async () => void (await Promise.all(grants.map((grant) => grant.release())));
  const refusal = answers.find((answer) => answer instanceof GatewayError);
  if (refusal) {
    await release();
    return refusal;
  }
  return {
    settle: async (used) => void (await Promise.all(grants.map((grant) => grant.settle(used)))),
    release,
    boundUsd: largest(grants.map(({ boundUsd }) => boundUsd)),
    unknownUsd: largest(grants.map(({ unknownUsd }) => unknownUsd)),
    budget: fullest(grants.map(({ budget }) => budget)),
  };
}

/** The largest of the amounts that there are. A record has one bound, which counts in every budget. */
function largest(amounts: readonly (string | undefined)[]): string | undefined {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.reduce<string | undefined>(
    (most, amount) => (most !== undefined && parsePico(most) >= parsePico(amount) ? most : amount),
    undefined,
  );
}
