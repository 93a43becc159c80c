import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { LimitDemand, LimitState, Reservation } from "./decide.ts";
import { type Pico, parsePico } from "./money.ts";

/** What a process may admit of a key's calls while the database is unreachable. */
export type LimitLease = {
  /** Reserved in the database for this process. */
  usd: Pico;
  /** On top of what the database counts: all processes together get a twentieth of the limit per minute. */
  requests: number;
  tokens: number;
};

/** A process leases this fraction of the remaining budget, as a divisor. */
const BUDGET_PARTS = 50n;
const RATE_PARTS = 20;

/** The part of the remaining budget that a process leases; nothing once half is gone. */
export function leaseUsd(limits: KeyLimits, { spent, held }: LimitState): Pico {
  if (limits.budget_usd === undefined) return 0n;
  const budget = parsePico(limits.budget_usd);
  const left = budget - spent - held;
  return left * 2n > budget ? left / BUDGET_PARTS : 0n;
}

/** One process's allowance per minute on top of what is counted, with `replicas` processes. */
export const leaseAllowance = (
  limits: KeyLimits,
  replicas: number,
): Pick<LimitLease, "requests" | "tokens"> => ({
  requests: Math.floor((limits.requests_per_minute ?? 0) / (RATE_PARTS * replicas)),
  tokens: Math.floor((limits.tokens_per_minute ?? 0) / (RATE_PARTS * replicas)),
});

/**
 * The lease after admitting a call; null if the call does not fit. `slotsFree`: concurrency slots that this process
 * still holds for ended calls.
 */
export function drawFromLease(
  lease: LimitLease,
  { limits, demand, slotsFree }: { limits: KeyLimits; demand: LimitDemand; slotsFree: number },
): { lease: LimitLease; booking: Reservation } | null {
  const usd = limits.budget_usd === undefined ? 0n : demand.usd;
  const requests = limits.requests_per_minute === undefined ? 0 : 1;
  const tokens = limits.tokens_per_minute === undefined ? 0 : demand.tokens;
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
