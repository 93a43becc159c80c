import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { LimitDemand, LimitState, Reservation } from "./decide.ts";
import { type Pico, parsePico } from "./money.ts";

/** What a process may let through of a key's calls while the database cannot be reached. */
export type Lease = {
  /** Booked in the database for this process alone. */
  usd: Pico;
  /** Beyond what is counted there: all processes' together are a twentieth of a minute's limit. */
  requests: number;
  tokens: number;
};

/** Part of what is left of a budget that a process keeps for itself, as a divisor. */
const BUDGET_PARTS = 50n;
const RATE_PARTS = 20;

/** The money that a process keeps of what is left of a budget: nothing of one that is half gone. */
export function leaseUsd(limits: KeyLimits, { spent, held }: LimitState): Pico {
  if (limits.budget_usd === undefined) return 0n;
  const budget = parsePico(limits.budget_usd);
  const left = budget - spent - held;
  return left * 2n > budget ? left / BUDGET_PARTS : 0n;
}

/** A minute's allowance beyond what is counted, for one of `replicas` processes. */
export const leaseAllowance = (limits: KeyLimits, replicas: number): Pick<Lease, "requests" | "tokens"> => ({
  requests: Math.floor((limits.requests_per_minute ?? 0) / (RATE_PARTS * replicas)),
  tokens: Math.floor((limits.tokens_per_minute ?? 0) / (RATE_PARTS * replicas)),
});

/**
 * What is left of a lease after a call; null where the call does not fit into it. `slotsFree` are places for calls at
 * once that this process still holds though the calls have ended.
 */
export function drawFromLease(
  lease: Lease,
  { limits, ask, slotsFree }: { limits: KeyLimits; ask: LimitDemand; slotsFree: number },
): { lease: Lease; booking: Reservation } | null {
  const usd = limits.budget_usd === undefined ? 0n : ask.usd;
  const requests = limits.requests_per_minute === undefined ? 0 : 1;
  const tokens = limits.tokens_per_minute === undefined ? 0 : ask.tokens;
  const fits =
    usd <= lease.usd &&
    requests <= lease.requests &&
    tokens <= lease.tokens &&
    (limits.concurrency === undefined || slotsFree > 0);
  if (!fits) return null;
  return {
    lease: { usd: lease.usd - usd, requests: lease.requests - requests, tokens: lease.tokens - tokens },
    booking: { usd, tokens },
  };
}
