import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { type Pico, parsePico } from "./money.ts";

/** What all gateways let through in one minute while the database was away; `calls`: the most at once. */
export type AwayTotal = { requests: number; tokens: number; calls: number };

/** By how much a key went over its limits; a limit that held is 0, and one that the key does not have too. */
export type Overruns = {
  /** Over all minutes. */
  requests_per_minute: number;
  tokens_per_minute: number;
  /** At most at once. */
  concurrency: number;
  budget_usd: Pico;
};

/** `spent`: in the budget's current period. */
export function overrunsOf(limits: KeyLimits, minutes: readonly AwayTotal[], spent: Pico): Overruns {
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
