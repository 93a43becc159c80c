import type { PriceView } from "#shared/admin/prices.ts";

export type PriceState = "in force" | "later" | "replaced";

/** Prices for the same calls replace each other. */
const same = (a: PriceView, b: PriceView): boolean =>
  a.model === b.model && a.provider === b.provider && a.tier === b.tier;

/** Whether a price is for calls of now: the latest of its kind that has begun. */
export function priceState(price: PriceView, prices: readonly PriceView[], nowMs: number): PriceState {
  const from = Date.parse(price.effective_from);
  if (from > nowMs) return "later";
  const isReplaced = prices.some((other) => {
    const otherFrom = Date.parse(other.effective_from);
    return same(price, other) && otherFrom > from && otherFrom <= nowMs;
  });
  return isReplaced ? "replaced" : "in force";
}
