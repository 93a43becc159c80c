import { type Exact, plus, ZERO } from "#shared/decimal.ts";
import type { CountBound } from "../pricing/price-bound.ts";
import { priceBound } from "../pricing/price-bound.ts";
import type { PriceEntry } from "../pricing/rate.ts";
import { askedTier, STANDARD } from "../pricing/tier.ts";
import { countOf, nameOf, objectOf } from "../providers/provider-json.ts";

/** The most that Anthropic's `fallbacks` may cost besides, as each may bill the whole call. Null: unknown. */
export function fallbacksBound(
  fallbacks: unknown,
  bound: CountBound,
  priceOf: (model: string, tier: string) => PriceEntry | null,
): Exact | null {
  if (fallbacks === undefined || fallbacks === null) return ZERO;
  if (!Array.isArray(fallbacks)) return null;
  let sum = ZERO;
  for (const one of fallbacks) {
    const { model, speed, max_tokens } = objectOf(one) ?? {};
    const name = nameOf(model);
    const entry = name === null ? null : priceOf(name, askedTier(nameOf(speed) ?? STANDARD));
    const outputTokens = Math.max(bound.outputTokens, countOf(max_tokens) ?? 0);
    const most = priceBound(entry, { ...bound, outputTokens });
    if (most === null) return null;
    sum = plus(sum, most);
  }
  return sum;
}
