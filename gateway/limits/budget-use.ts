import type { Pico } from "./money.ts";
import type { BudgetPeriod } from "./window.ts";

export type BudgetUse = {
  /** Settled cost as a share of the budget, in thousandths, rounded down: 0 to 0.999, because the call was admitted. */
  utilization: number;
  /** When the budget's period ends. */
  endsMs: number;
};

const PARTS = 1_000n;

export function budgetUse(spent: Pico, budget: Pico, { to }: BudgetPeriod): BudgetUse {
  const parts = budget > spent ? (spent * PARTS) / budget : PARTS - 1n;
  return { utilization: Number(parts) / Number(PARTS), endsMs: Date.parse(to) };
}

/** The use of the fullest budget; undefined: there is no budget. */
export const fullest = (uses: readonly (BudgetUse | undefined)[]): BudgetUse | undefined =>
  uses.reduce((most, it) => ((it?.utilization ?? -1) > (most?.utilization ?? -1) ? it : most), undefined);

/** Use at the period's end at the same pace; null in its first tenth (decision: A budget at risk). */
export function projectedUse(used: Pico, { from, to }: BudgetPeriod, now: Date): Pico | null {
  const wholeMs = Date.parse(to) - Date.parse(from);
  const goneMs = now.getTime() - Date.parse(from);
  return goneMs * 10 < wholeMs ? null : (used * BigInt(wholeMs)) / BigInt(goneMs);
}
