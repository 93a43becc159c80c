import type { Pico } from "./money.ts";
import type { BudgetPeriod } from "./window.ts";

/**
 * What will be used at the end of a period if use goes on at the same pace; null in the first tenth of the period
 * (decision: A budget at risk).
 */
export function projectedUse(used: Pico, { from, to }: BudgetPeriod, now: Date): Pico | null {
  const wholeMs = Date.parse(to) - Date.parse(from);
  const goneMs = now.getTime() - Date.parse(from);
  return goneMs * 10 < wholeMs ? null : (used * BigInt(wholeMs)) / BigInt(goneMs);
}
