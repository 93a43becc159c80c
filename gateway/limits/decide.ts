import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { type Pico, picoOf } from "./money.ts";
import { type Period, type RateSlot, secondsUntil, secondsUntilRoom, slotOf } from "./window.ts";

/** What a call asks a key's limits for. */
export type Ask = {
  tokens: number;
  /** What it costs at most. */
  usd: Pico;
  /** The part of that which somebody bounds; less than `usd` where nobody says how long the answer may get. */
  leastUsd: Pico;
  /** What the client chose of which nobody knows the price, such as `service_tier: flex`; then `usd` is beyond any budget. */
  chosenApart?: string;
};

/** How a key stands, all gateways together. */
export type Standing = {
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

export type Refusal = {
  type: "rate_limited" | "budget_exhausted";
  limit: "requests" | "tokens" | "calls" | "budget" | "reserved";
  retryAfterSeconds: number;
  /** `x-ratelimit-*`, in the form that OpenAI gives them. */
  headers: Record<string, string>;
};

/** What is booked for a call that is let through. */
export type Booking = { tokens: number; usd: Pico };

export type Verdict = { refusal: Refusal } | { booking: Booking; standing: Standing };

type Scene = { limits: KeyLimits; period: Period; standing: Standing; ask: Ask };

/** Whether a call is let through, and how the key stands after that. Nothing is booked for one that is not. */
export function decide(scene: Scene): Verdict {
  const { limits, standing, ask } = scene;
  const tokens = Math.min(ask.tokens, limits.tokens_per_minute ?? ask.tokens);
  const usd = reservable(scene);
  const refused = refusalOf(scene, tokens, usd);
  if (refused) return { refusal: { ...refused, headers: rateHeaders(scene) } };
  return {
    booking: { tokens, usd: usd ?? 0n },
    standing: {
      ...standing,
      slots: booked(standing.slots, { slot: slotOf(standing.nowMs), requests: 1, tokens }),
      held: standing.held + (usd ?? 0n),
      calls: standing.calls + 1,
    },
  };
}

function refusalOf(scene: Scene, tokens: number, usd: Pico | null): Omit<Refusal, "headers"> | null {
  const { limits, period, standing, ask } = scene;
  const { nowMs, slots } = standing;
  if (limits.budget_usd !== undefined && standing.spent + ask.leastUsd > picoOf(limits.budget_usd)) {
    const retryAfterSeconds = secondsUntil(Date.parse(period.to), nowMs);
    return { type: "budget_exhausted", limit: "budget", retryAfterSeconds };
  }
  const limited = (limit: Refusal["limit"], retryAfterSeconds = 1) =>
    ({ type: "rate_limited", limit, retryAfterSeconds }) as const;
  if (standing.calls >= (limits.concurrency ?? Number.POSITIVE_INFINITY)) return limited("calls");
  for (const [unit, limit, need] of [
    ["requests", limits.requests_per_minute, 1],
    ["tokens", limits.tokens_per_minute, tokens],
  ] as const) {
    if (limit === undefined || used(slots, unit) + need <= limit) continue;
    return limited(unit, secondsUntilRoom(slots, unit, { limit, need, nowMs }));
  }
  return usd === null ? limited("reserved") : null;
}

/**
 * What is reserved for the call: its bound; what is left of the budget where that is less and nobody bounds the answer;
 * null where it does not fit beside the calls under way.
 */
function reservable({ limits, standing, ask }: Scene): Pico | null {
  if (limits.budget_usd === undefined) return 0n;
  const left = picoOf(limits.budget_usd) - standing.spent - standing.held;
  if (ask.usd <= left) return ask.usd;
  return ask.leastUsd < ask.usd && ask.leastUsd <= left ? left : null;
}

const used = (slots: readonly RateSlot[], unit: "requests" | "tokens"): number =>
  slots.reduce((sum, slot) => sum + slot[unit], 0);

function booked(slots: readonly RateSlot[], it: RateSlot): RateSlot[] {
  const last = slots.at(-1);
  if (last?.slot !== it.slot) return [...slots, it];
  const both = { ...last, requests: last.requests + it.requests, tokens: last.tokens + it.tokens };
  return [...slots.slice(0, -1), both];
}

function rateHeaders({ limits, standing, ask }: Scene): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, limit, need] of [
    ["requests", limits.requests_per_minute, 1],
    ["tokens", limits.tokens_per_minute, ask.tokens],
  ] as const) {
    if (limit === undefined) continue;
    const { slots, nowMs } = standing;
    const remaining = Math.max(0, limit - used(slots, unit));
    const seconds = remaining >= need ? 0 : secondsUntilRoom(slots, unit, { limit, need, nowMs });
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(remaining);
    headers[`x-ratelimit-reset-${unit}`] = `${seconds}s`;
  }
  return headers;
}
