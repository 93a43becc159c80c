import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { decideLimits, type LimitDecision, type LimitDemand, type LimitState } from "./decide.ts";
import { formatPico, type Pico, parsePico } from "./money.ts";
import type { BudgetPeriod } from "./window.ts";

/** What a process knows of a key's use while the database is away. */
export type AwayState = {
  /** By all gateways as the database last counted it, and by this one since then. */
  whole: LimitState;
  /** By this process alone; `held` is what it has taken from its slice of the budget. */
  own: LimitState;
};

/** What a process may admit for a key that must not exceed its limits even while the database is away. */
type Lease = {
  /** The slice of the budget that the database has reserved for this process. */
  usd: Pico;
  /** Live gateways: each gets an equal share of the rates and of the concurrent calls. */
  replicas: number;
};

type AwayInput = {
  limits: KeyLimits;
  period: BudgetPeriod;
  demand: LimitDemand;
  state: AwayState;
  lease: Lease;
};

/** A process leases this fraction of the remaining budget, as a divisor. */
const BUDGET_PARTS = 50n;

/** The slice of the remaining budget that a process leases for a key that refuses; nothing once half is gone. */
export function leaseUsd(limits: KeyLimits, { spent, held }: LimitState): Pico {
  if (limits.budget_usd === undefined || limits.when_away !== "refuse") return 0n;
  const budget = parsePico(limits.budget_usd);
  const left = budget - spent - held;
  return left * 2n > budget ? left / BUDGET_PARTS : 0n;
}

/**
 * Admits or refuses a call without the database. The key's limits apply to what this process knows. Null: the key has
 * `when_away: "refuse"`, and the lease is used up.
 */
export function decideAway({ limits, period, demand, state, lease }: AwayInput): LimitDecision | null {
  const decision = decideLimits({ limits, period, demand, state: state.whole });
  if ("refusal" in decision || limits.when_away !== "refuse") return decision;
  const leased = decideLimits({ limits: shareOf(limits, lease), period, demand, state: state.own });
  return "refusal" in leased ? null : decision;
}

function shareOf(limits: KeyLimits, { usd, replicas }: Lease): KeyLimits {
  const share = (limit: number) => Math.floor(limit / Math.max(1, replicas));
  return {
    ...(limits.requests_per_minute === undefined
      ? {}
      : { requests_per_minute: share(limits.requests_per_minute) }),
    ...(limits.tokens_per_minute === undefined ? {} : { tokens_per_minute: share(limits.tokens_per_minute) }),
    ...(limits.concurrency === undefined ? {} : { concurrency: share(limits.concurrency) }),
    ...(limits.budget_usd === undefined ? {} : { budget_usd: formatPico(usd) }),
  };
}
