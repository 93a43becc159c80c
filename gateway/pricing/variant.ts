import { isOver, parseDecimal } from "#shared/decimal.ts";
import { PREVIEW_SEARCH } from "../reading.ts";
import { type PriceEntry, type Rate, ratePer } from "./rate.ts";

export type RatesBy = Readonly<Record<string, Rate>>;

/** Rates by what the request asks for. @throws RangeError if an amount is not a decimal. */
export const ratesBy = (usd: Readonly<Record<string, string>>, places: number): RatesBy =>
  Object.fromEntries(
    Object.entries(usd).map(([name, amount]) => [name, ratePer(parseDecimal(amount), places)]),
  );

export const dearest = (rates: RatesBy): Rate =>
  Object.values(rates).reduce((a, b) => (isOver(b.exact, a.exact) ? b : a));

const cheapest = (rates: readonly Rate[]): Rate => rates.reduce((a, b) => (isOver(a.exact, b.exact) ? b : a));

/** Size and quality where the request names neither. */
const USUAL_SIZE = "1024x1024";
const USUAL_QUALITY = "standard";
/** Perplexity's search context where the request names none (docs.perplexity.ai, API reference, 2026-11-27). */
const USUAL_CONTEXT = "low";

/**
 * The price of images of the requested size and quality (`1024x1792 hd`; null or `auto` is the default), and of a call with
 * the requested search (`low`, `high pro`) or search tool. `isFloor`: what was searched is not known, so that the lowest fee counts.
 */
export function ofVariant(
  price: PriceEntry,
  variant: string | null,
): { price: PriceEntry; isFloor: boolean } {
  const { imageBy, callBy, previewSearch, rates } = price;
  if (variant === PREVIEW_SEARCH && previewSearch) {
    const uncounted = price.uncounted?.filter((unit) => unit !== "web_search") ?? [];
    return { price: { ...price, uncounted, rates: { ...rates, web_search: previewSearch } }, isFloor: false };
  }
  if (callBy) {
    const known = rateOf(callBy, variant ?? USUAL_CONTEXT);
    const [context = "auto"] = variant?.split(" ") ?? [];
    const possible = Object.entries(callBy).filter(
      ([name]) => context === "auto" || name.startsWith(context),
    );
    const call =
      known ?? cheapest((possible.length > 0 ? possible : Object.entries(callBy)).map(([, rate]) => rate));
    return { price: { ...price, rates: { ...rates, call } }, isFloor: known === undefined };
  }
  if (!imageBy) return { price, isFloor: false };
  const [size = "auto", quality = "auto"] = variant?.split(" ") ?? [];
  const { image: _, ...others } = rates;
  const image = rateOf(
    imageBy,
    `${size === "auto" ? USUAL_SIZE : size} ${quality === "hd" ? quality : USUAL_QUALITY}`,
  );
  return { price: { ...price, rates: image ? { ...others, image } : others }, isFloor: false };
}

const rateOf = (rates: RatesBy, name: string): Rate | undefined =>
  Object.hasOwn(rates, name) ? rates[name] : undefined;
