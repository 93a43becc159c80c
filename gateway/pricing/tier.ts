import { parseDecimal } from "#shared/decimal.ts";
import type { TierPrice, TierPrices } from "../price-facts.ts";
import {
  PLACES,
  type PriceEntry,
  type PriceUnit,
  type Rate,
  type Rates,
  ratePer,
  rateTimes,
  TOKEN_UNITS,
} from "./rate.ts";

/** The service tier of prices that name none. */
export const STANDARD = "standard";
export const BATCH_TIER = "batch";

/** Providers' names for the tier of their list prices. In a request, `auto` leaves the choice to the provider. */
const STANDARD_NAMES = new Set([
  "",
  STANDARD,
  "standard_only",
  "default",
  "auto",
  "on_demand",
  "unspecified",
]);

/** A tier as requests name it; Google's names are also in capitals, with a prefix (`SERVICE_TIER_FLEX`). */
export const askedTier = (text: string): string => text.toLowerCase().replace(/^service_tier_/, "");

/** Any other tier has prices of its own: without one, its calls have no price, because its name does not give one. */
export const isPricedApart = (tier: string): boolean => !STANDARD_NAMES.has(tier);

/** A tier as prices name it, and whether the model ran in the US alone. */
export type Tier = { name: string; withinUs: boolean };

const WITHIN_US = /(?:^|_)us$/;

/** Reads the tier that a record holds: the provider's name for it, with `us` behind it (providers/messages-usage.ts). */
export function tierOf(serviceTier: string | null): Tier {
  const text = serviceTier ?? "";
  const name = text.replace(WITHIN_US, "");
  return { name: isPricedApart(name) ? name : STANDARD, withinUs: name.length < text.length };
}

const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{4}|\d{8})$/;

/** A model's name without the date of its version: `gpt-4o` for `gpt-4o-2024-08-06`. */
export const undated = (model: string): string => model.replace(DATED, "");

export function tierPriceOf(prices: TierPrices | undefined, tier: string, model: string): TierPrice | null {
  const byModel = prices && Object.hasOwn(prices, tier) ? prices[tier] : undefined;
  if (!byModel) return null;
  const bare = model.replace(/^.*\//s, "");
  const name = [model, bare, undated(bare), "*"].find((one) => Object.hasOwn(byModel, one));
  return name === undefined ? null : (byModel[name] ?? null);
}

/** The standard price with its tokens at the tier's price. Fees for searches and pieces do not change with the tier. */
export function inTier(standard: PriceEntry, tier: string, price: TierPrice): PriceEntry {
  return { ...standard, entry: `${standard.entry} (${tier})`, rates: ratesIn(standard.rates, price) };
}

function ratesIn(rates: Rates, price: TierPrice): Rates {
  if (typeof price === "string") return multiplied(rates, { times: price, cacheReads: price });
  return "times" in price ? multiplied(rates, price) : replaced(rates, price);
}

function multiplied(rates: Rates, { times, cacheReads }: { times: string; cacheReads: string }): Rates {
  const [factor, ofReads] = [parseDecimal(times), parseDecimal(cacheReads)];
  return withTokens(rates, (unit, rate) => rateTimes(rate, isCacheRead(unit) ? ofReads : factor));
}

type Amounts = { input: string; cachedInput?: string; output: string };

function replaced(rates: Rates, { input, cachedInput, output }: Amounts): Rates {
  const figures: Partial<Record<PriceUnit, string | undefined>> = { input, cache_read: cachedInput, output };
  return withTokens(rates, (unit) => {
    const figure = figures[unit];
    return figure === undefined ? null : ratePer(parseDecimal(figure), PLACES.million);
  });
}

const isCacheRead = (unit: PriceUnit): boolean => unit === "cache_read" || unit === "cache_audio_read";

function withTokens(rates: Rates, of: (unit: PriceUnit, rate: Rate) => Rate | null): Rates {
  const changed: { -readonly [unit in keyof Rates]: Rate } = { ...rates };
  for (const unit of TOKEN_UNITS) {
    const usual = rates[unit];
    const other = usual && of(unit, usual);
    if (other) changed[unit] = other;
    else delete changed[unit];
  }
  return changed;
}
