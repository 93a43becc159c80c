import type { Limits } from "#drizzle/schema/budgets.ts";
import { type Pico, parsePico } from "./money.ts";
import {
  type BudgetPeriod,
  type RateSlot,
  rateSlotAt,
  secondsUntilCapacity,
  withReservation,
} from "./window.ts";

/** A call's demand on its key's limits. */
export type LimitDemand = {
  tokens: number;
  /** Maximum cost. */
  usd: Pico;
  /** The bounded part of `usd`: less if the answer's length is unbounded. */
  minimumUsd: Pico;
  /** An option without a known price, such as `service_tier: flex`; `usd` then exceeds any budget. */
  unpricedOption?: string;
};

/** Use of a key's limits across all gateways. */
export type LimitState = {
  /** By the database's clock, which all gateways share. */
  nowMs: number;
  /** Active slots, oldest first. */
  slots: readonly RateSlot[];
  /** Cost of ended calls in the budget's period. */
  spent: Pico;
  /** Reserved for running calls. */
  held: Pico;
  calls: number;
};

type Refused =
  | { type: "rate_limited"; limit: RateLimit; retryAfterSeconds: number }
  /** `left`: the rest of the budget, not above 0 if it is used up. `endsMs`: when its period ends. */
  | { type: "budget_exhausted"; left: Pico; endsMs: number };

export type RateLimit = "requests" | "tokens" | "calls" | "reserved";

/** `headers`: `x-ratelimit-*`, as OpenAI formats them. */
export type LimitRefusal = Refused & { headers: Record<string, string> };

/** What is reserved for an admitted call. */
export type Reservation = { tokens: number; usd: Pico };

export type LimitDecision = { refusal: LimitRefusal } | { reservation: Reservation; state: LimitState };

type LimitInput = { limits: Limits; period: BudgetPeriod; state: LimitState; demand: LimitDemand };

/** Admits or refuses a call. Nothing is reserved for a refused one. */
export function decideLimits(input: LimitInput): LimitDecision {
  const { limits, state, demand } = input;
  const tokens = Math.min(demand.tokens, limits.tokens_per_minute ?? demand.tokens);
  const usd = reservable(input);
  const refused = refusalOf(input, tokens, usd);
  if (refused) return { refusal: { ...refused, headers: rateHeaders(input) } };
  return {
    reservation: { tokens, usd: usd ?? 0n },
    state: {
      ...state,
      slots: withReservation(state.slots, { slot: rateSlotAt(state.nowMs), requests: 1, tokens }),
      held: state.held + (usd ?? 0n),
      calls: state.calls + 1,
    },
  };
}

function refusalOf(input: LimitInput, tokens: number, usd: Pico | null): Refused | null {
  const { limits, period, state, demand } = input;
  const { nowMs, slots } = state;
  const left = limits.budget_usd === undefined ? null : parsePico(limits.budget_usd) - state.spent;
  if (left !== null && demand.minimumUsd > left) {
    return { type: "budget_exhausted", left, endsMs: Date.parse(period.to) };
  }
  const limited = (limit: RateLimit, retryAfterSeconds = 1) =>
    ({ type: "rate_limited", limit, retryAfterSeconds }) as const;
  if (state.calls >= (limits.concurrency ?? Number.POSITIVE_INFINITY)) return limited("calls");
  for (const [unit, limit, need] of [
    ["requests", limits.requests_per_minute, 1],
    ["tokens", limits.tokens_per_minute, tokens],
  ] as const) {
    if (limit === undefined || total(slots, unit) + need <= limit) continue;
    return limited(unit, secondsUntilCapacity(slots, unit, { limit, need, nowMs }));
  }
  return usd === null ? limited("reserved") : null;
}

/**
 * The amount to reserve: the call's maximum cost, or the rest of the budget if that is less and the answer is
 * unbounded. Null: the running calls leave too little.
 */
function reservable({ limits, state, demand }: LimitInput): Pico | null {
  if (limits.budget_usd === undefined) return 0n;
  const left = parsePico(limits.budget_usd) - state.spent - state.held;
  if (demand.usd <= left) return demand.usd;
  return demand.minimumUsd < demand.usd && demand.minimumUsd <= left ? left : null;
}

/** Whether at most a half, or another `part`, of each limit is used. */
export const isRoomy = (
  limits: Limits,
  { spent, held, calls, slots }: Omit<LimitState, "nowMs">,
  part = 2,
): boolean =>
  calls * part <= (limits.concurrency ?? Number.POSITIVE_INFINITY) &&
  total(slots, "requests") * part <= (limits.requests_per_minute ?? Number.POSITIVE_INFINITY) &&
  total(slots, "tokens") * part <= (limits.tokens_per_minute ?? Number.POSITIVE_INFINITY) &&
  (limits.budget_usd === undefined || (spent + held) * BigInt(part) <= parsePico(limits.budget_usd));

function total(slots: readonly RateSlot[], unit: "requests" | "tokens"): number {
  let sum = 0;
  for (const slot of slots) sum += slot[unit];
  return sum;
}

function rateHeaders({ limits, state, demand }: LimitInput): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, limit, need] of [
    ["requests", limits.requests_per_minute, 1],
    ["tokens", limits.tokens_per_minute, demand.tokens],
  ] as const) {
    if (limit === undefined) continue;
    const { slots, nowMs } = state;
    const remaining = Math.max(0, limit - total(slots, unit));
    const seconds = remaining >= need ? 0 : secondsUntilCapacity(slots, unit, { limit, need, nowMs });
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(remaining);
    headers[`x-ratelimit-reset-${unit}`] = `${seconds}s`;
  }
  return headers;
}
