import { parseDecimal } from "#shared/decimal.ts";
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
/** The tier of calls in batches. */
export const BATCH_TIER = "batch";

/** Tiers with prices of their own: without one, a call of theirs has no price (OpenAI's and Anthropic's names). */
const PRICED_APART = new Set(["batch", "fallback", "fast", "flex", "priority", "scale"]);

export const isPricedApart = (tier: string): boolean => PRICED_APART.has(tier);

/** A tier as prices name it, and whether the model ran in the US alone. */
export type Tier = { name: string; withinUs: boolean };

const STANDARD_NAMES = new Set(["", "standard", "default"]);
const WITHIN_US = /(?:^|_)us$/;

/** Reads the tier that a record holds: the provider's name for it, with `us` behind it (providers/messages-usage.ts). */
export function tierOf(serviceTier: string | null): Tier {
  const text = serviceTier ?? "";
  const name = text.replace(WITHIN_US, "");
  return { name: STANDARD_NAMES.has(name) ? STANDARD : name, withinUs: name.length < text.length };
}

/** A tier's price of a model: times the standard price (an exact decimal), or in USD per million tokens. */
export type TierPrice = string | { input: string; cachedInput?: string; output: string };

/** By the tier's name, then by the model's, without its date; `*` is any other model. */
export type TierPrices = Readonly<Record<string, Readonly<Record<string, TierPrice>>>>;

const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{4}|\d{8})$/;

/** A model's name without the date of its version: `gpt-4o` for `gpt-4o-2024-08-06`. */
export const undated = (model: string): string => model.replace(DATED, "");

export function tierPriceOf(prices: TierPrices | undefined, tier: string, model: string): TierPrice | null {
  const byModel = prices && Object.hasOwn(prices, tier) ? prices[tier] : undefined;
  if (!byModel) return null;
  const name = [model, undated(model), "*"].find((one) => Object.hasOwn(byModel, one));
  return name === undefined ? null : (byModel[name] ?? null);
}

/** The standard price with its tokens at the tier's price. Fees for searches and pieces do not change with the tier. */
export function inTier(standard: PriceEntry, tier: string, price: TierPrice): PriceEntry {
  const rates =
    typeof price === "string" ? multiplied(standard.rates, price) : replaced(standard.rates, price);
  return { ...standard, entry: `${standard.entry} (${tier})`, rates };
}

function multiplied(rates: Rates, multiplier: string): Rates {
  const factor = parseDecimal(multiplier);
  return withTokens(rates, (_, rate) => rateTimes(rate, factor));
}

function replaced(rates: Rates, { input, cachedInput, output }: Exclude<TierPrice, string>): Rates {
  const figures: Partial<Record<PriceUnit, string | undefined>> = { input, cache_read: cachedInput, output };
  return withTokens(rates, (unit) => {
    const figure = figures[unit];
    return figure === undefined ? null : ratePer(parseDecimal(figure), PLACES.million);
  });
}

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
