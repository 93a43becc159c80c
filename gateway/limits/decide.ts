import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { type Pico, parsePico } from "./money.ts";
import {
  type BudgetPeriod,
  type RateSlot,
  rateSlotAt,
  secondsUntil,
  secondsUntilCapacity,
} from "./window.ts";

/** What a call asks a key's limits for. */
export type LimitDemand = {
  tokens: number;
  /** What it costs at most. */
  usd: Pico;
  /** The part of that which somebody bounds; less than `usd` where nobody says how long the answer may get. */
  minimumUsd: Pico;
  /** What the client chose of which nobody knows the price, such as `service_tier: flex`; then `usd` is beyond any budget. */
  unpricedOption?: string;
};

/** How a key stands, all gateways together. */
export type LimitState = {
  /** The database's clock, which is everybody's. */
  nowMs: number;
  /** Those that count, in order of time. */
  slots: readonly RateSlot[];
  /** What calls of the budget's period that have ended did cost. */
  spent: Pico;
  /** Reserved for calls under way. */
  held: Pico;
  /** Calls under way. */
  calls: number;
};

export type LimitRefusal = {
  type: "rate_limited" | "budget_exhausted";
  limit: "requests" | "tokens" | "calls" | "budget" | "reserved";
  retryAfterSeconds: number;
  /** `x-ratelimit-*`, in the form that OpenAI gives them. */
  headers: Record<string, string>;
};

/** What is booked for a call that is let through. */
export type Reservation = { tokens: number; usd: Pico };

export type LimitDecision = { refusal: LimitRefusal } | { reservation: Reservation; state: LimitState };

type LimitInput = { limits: KeyLimits; period: BudgetPeriod; state: LimitState; demand: LimitDemand };

/** Whether a call is let through, and how the key stands after that. Nothing is booked for one that is not. */
export function decideLimits(scene: LimitInput): LimitDecision {
  const { limits, state: standing, demand: ask } = scene;
  const tokens = Math.min(ask.tokens, limits.tokens_per_minute ?? ask.tokens);
  const usd = reservable(scene);
  const refused = refusalOf(scene, tokens, usd);
  if (refused) return { refusal: { ...refused, headers: rateHeaders(scene) } };
  return {
    reservation: { tokens, usd: usd ?? 0n },
    state: {
      ...standing,
      slots: withReservation(standing.slots, { slot: rateSlotAt(standing.nowMs), requests: 1, tokens }),
      held: standing.held + (usd ?? 0n),
      calls: standing.calls + 1,
    },
  };
}

function refusalOf(
  scene: LimitInput,
  tokens: number,
  usd: Pico | null,
): Omit<LimitRefusal, "headers"> | null {
  const { limits, period, state: standing, demand: ask } = scene;
  const { nowMs, slots } = standing;
  if (limits.budget_usd !== undefined && standing.spent + ask.minimumUsd > parsePico(limits.budget_usd)) {
    const retryAfterSeconds = secondsUntil(Date.parse(period.to), nowMs);
    return { type: "budget_exhausted", limit: "budget", retryAfterSeconds };
  }
  const limited = (limit: LimitRefusal["limit"], retryAfterSeconds = 1) =>
    ({ type: "rate_limited", limit, retryAfterSeconds }) as const;
  if (standing.calls >= (limits.concurrency ?? Number.POSITIVE_INFINITY)) return limited("calls");
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
 * What is reserved for the call: its bound; what is left of the budget where that is less and nobody bounds the answer;
 * null where it does not fit beside the calls under way.
 */
function reservable({ limits, state: standing, demand: ask }: LimitInput): Pico | null {
  if (limits.budget_usd === undefined) return 0n;
  const left = parsePico(limits.budget_usd) - standing.spent - standing.held;
  if (ask.usd <= left) return ask.usd;
  return ask.minimumUsd < ask.usd && ask.minimumUsd <= left ? left : null;
}

const total = (slots: readonly RateSlot[], unit: "requests" | "tokens"): number =>
  slots.reduce((sum, slot) => sum + slot[unit], 0);

function withReservation(slots: readonly RateSlot[], it: RateSlot): RateSlot[] {
  const last = slots.at(-1);
  if (last?.slot !== it.slot) return [...slots, it];
  const both = { ...last, requests: last.requests + it.requests, tokens: last.tokens + it.tokens };
  return [...slots.slice(0, -1), both];
}

function rateHeaders({ limits, state: standing, demand: ask }: LimitInput): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, limit, need] of [
    ["requests", limits.requests_per_minute, 1],
    ["tokens", limits.tokens_per_minute, ask.tokens],
  ] as const) {
    if (limit === undefined) continue;
    const { slots, nowMs } = standing;
    const remaining = Math.max(0, limit - total(slots, unit));
    const seconds = remaining >= need ? 0 : secondsUntilCapacity(slots, unit, { limit, need, nowMs });
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(remaining);
    headers[`x-ratelimit-reset-${unit}`] = `${seconds}s`;
  }
  return headers;
}
