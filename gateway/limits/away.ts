import type { Limits } from "#drizzle/schema/budgets.ts";
import { decideLimits, type LimitDecision, type LimitDemand, type LimitState } from "./decide.ts";
import { formatPico, type Pico, parsePico } from "./money.ts";
import type { BudgetPeriod, RateSlot } from "./window.ts";

/** Use that a process may admit for a key that must not exceed its limits even while the database is away. */
type Share = {
  /** The rest of the budget slice that the database has reserved for this process. */
  usd: Pico;
  /** Live gateways: each gets an equal share of the rates and of the concurrent calls. */
  replicas: number;
  /** Active slots of what this process admitted itself. */
  slots: readonly RateSlot[];
};

type AwayInput = {
  limits: Limits;
  period: BudgetPeriod;
  demand: LimitDemand;
  /** By all gateways as the database last counted it, and by this one since then. */
  state: LimitState;
  share: Share;
};

/** A process leases this fraction of the remaining budget, as a divisor. */
const BUDGET_PARTS = 50n;

/** The remaining budget's slice that a process leases for a refusing key, or while alone; nothing once half is gone. */
export function leaseUsd(limits: Limits, { spent, held }: LimitState, isAlone: boolean): Pico {
  if (limits.budget_usd === undefined || (limits.when_away !== "refuse" && !isAlone)) return 0n;
  const budget = parsePico(limits.budget_usd);
  const left = budget - spent - held;
  return left * 2n > budget ? left / BUDGET_PARTS : 0n;
}

/** Decides without the database, by this process's figures. Null: `when_away: "refuse"`, and its share is used up. */
export function decideAway({ limits, period, demand, state, share }: AwayInput): LimitDecision | null {
  const decision = decideLimits({ limits, period, demand, state });
  if ("refusal" in decision || limits.when_away !== "refuse") return decision;
  const own = { ...state, slots: share.slots, spent: 0n, held: 0n };
  const shared = decideLimits({ limits: limitsOf(limits, share), period, demand, state: own });
  if ("refusal" in shared) return null;
  // A call whose answer nothing limits takes what is left: of the budget, and of the slice.
  const { reservation } = decision.reservation.usd < shared.reservation.usd ? decision : shared;
  return { ...decision, reservation: { ...decision.reservation, usd: reservation.usd } };
}

function limitsOf(limits: Limits, { usd, replicas }: Share): Limits {
  const shared = { ...limits };
  for (const limit of ["requests_per_minute", "tokens_per_minute", "concurrency"] as const) {
    const whole = limits[limit];
    if (whole !== undefined) shared[limit] = Math.floor(whole / Math.max(1, replicas));
  }
  if (limits.budget_usd !== undefined) shared.budget_usd = formatPico(usd > 0n ? usd : 0n);
  return shared;
}

/** Calls that all gateways let through in one minute while the database was away; `calls`: the most at once. */
export type AwayTotal = { requests: number; tokens: number; calls: number };

/** By how much a key exceeded its limits; 0 for a limit that held, or that the key does not have. */
export type Overruns = {
  /** Over all minutes. */
  requests_per_minute: number;
  tokens_per_minute: number;
  /** At most at once. */
  concurrency: number;
  budget_usd: Pico;
};

/** `spent`: in the budget's current period. */
export function overrunsOf(limits: Limits, minutes: readonly AwayTotal[], spent: Pico): Overruns {
  const above = (limit: number | undefined, value: number) => Math.max(0, value - (limit ?? value));
  const left = limits.budget_usd === undefined ? 0n : parsePico(limits.budget_usd) - spent;
  const over = { requests_per_minute: 0, tokens_per_minute: 0, concurrency: 0, budget_usd: 0n };
  for (const { requests, tokens, calls } of minutes) {
    over.requests_per_minute += above(limits.requests_per_minute, requests);
    over.tokens_per_minute += above(limits.tokens_per_minute, tokens);
    over.concurrency = Math.max(over.concurrency, above(limits.concurrency, calls));
  }
  if (left < 0n) over.budget_usd = -left;
  return over;
}
