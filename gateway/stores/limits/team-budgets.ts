import { GatewayError } from "../../errors.ts";
import { fullest } from "../../limits/budget-use.ts";
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
    budget: fullest(grants.map(({ budget }) => budget)),
  };
}
