import type { AdmittedCall, Used } from "./admission.ts";
import { type Pico, parsePico } from "./money.ts";
import { corrected, type RateSlot, withReservation } from "./window.ts";

/** Active slots, the cost of ended calls, the most that running ones may cost, and their number. */
export type Count = { slots: readonly RateSlot[]; spent: Pico; held: Pico; calls: number };

export const nothing = (): Count => ({ slots: [], spent: 0n, held: 0n, calls: 0 });

export const rateOf = ({ slot, reservation: { tokens } }: AdmittedCall): RateSlot => ({
  slot,
  requests: 1,
  tokens,
});

/** The cost of an ended call, and by how much its tokens differ from those that were counted; 0 is unknown, too. */
export const costOf = (
  { reservation }: AdmittedCall,
  { usd, tokens }: Used,
): { cost: Pico; more: number } => ({
  cost: usd === null ? 0n : parsePico(usd),
  more: tokens === null ? 0 : tokens - reservation.tokens,
});

export function begin(count: Count, call: AdmittedCall): void {
  count.slots = withReservation(count.slots, rateOf(call));
  count.held += call.reservation.usd;
  count.calls += 1;
}

export function end(count: Count, call: AdmittedCall, used: Used): void {
  const { cost, more } = costOf(call, used);
  count.held -= call.reservation.usd;
  count.spent += cost;
  count.calls -= 1;
  if (more !== 0 && call.limits.tokens_per_minute !== undefined)
    count.slots = corrected(count.slots, call.slot, more);
}
