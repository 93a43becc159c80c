import { type Exact, parseDecimal, product } from "#shared/decimal.ts";
import type { Usage } from "#shared/usage.ts";
import type { PriceOverride } from "../directory.ts";
import type { PublishedPrice } from "../price-facts.ts";
import {
  inProportion,
  LIST_PREFIX,
  PLACES,
  type PriceEntry,
  type PriceUnit,
  type Rate,
  type Rates,
  ratePer,
  rateTimes,
} from "./rate.ts";
import { dearest, ratesBy } from "./variant.ts";

type Columns<Price> = readonly (readonly [keyof Price, PriceUnit, number])[];

const OWN_COLUMNS = [
  ["input", "input", PLACES.million],
  ["output", "output", PLACES.million],
  ["image", "image", PLACES.one],
  ["character", "character", PLACES.one],
  ["searchUnit", "search_unit", PLACES.one],
] as const satisfies Columns<PublishedPrice>;

/** An administrator's price: tokens per million, the rest per piece. */
const OVERRIDE_COLUMNS = [
  ["input", "input", PLACES.million],
  ["output", "output", PLACES.million],
  ["cachedInput", "cache_read", PLACES.million],
  ["cacheWrite5m", "cache_write_5m", PLACES.million],
  ["cacheWrite1h", "cache_write_1h", PLACES.million],
  ["perImage", "image", PLACES.one],
  ["perCharacter", "character", PLACES.one],
  ["perCall", "call", PLACES.one],
] as const satisfies Columns<PriceOverride>;

/** @throws RangeError if an amount is not a decimal. */
export function ownPrice(name: string, own: PublishedPrice): PriceEntry {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of OWN_COLUMNS) {
    const price = own[column];
    if (price !== undefined) rates[unit] = ratePer(parseDecimal(price), places);
  }
  const entry = `${LIST_PREFIX}${name}`;
  if (!own.imageBy) return { entry, rates };
  const imageBy = ratesBy(own.imageBy, PLACES.one);
  return { entry, rates: { ...rates, image: dearest(imageBy) }, imageBy };
}

/** An administrator's amounts, once parsed. */
export type EnteredPrice = { override: PriceOverride; rates: Rates; factor: Exact | null };

/** @throws RangeError if an amount is not a decimal. */
export function enteredPrice(override: PriceOverride): EnteredPrice {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of OVERRIDE_COLUMNS) {
    const price = override[column];
    if (price !== null) rates[unit] = ratePer(parseDecimal(price), places);
  }
  return { override, rates, factor: override.multiplier === null ? null : parseDecimal(override.multiplier) };
}

/** An administrator's price beside the list's for the same tier, which fills in what it omits. Null: unknown. */
export function ownEntry(
  { override, rates, factor }: EnteredPrice,
  list: PriceEntry | null,
): PriceEntry | null {
  const entry = `override:${override.id}`;
  if (factor !== null) return list && { ...list, entry, list, ...timesFactor(list, factor) };
  if (!list) return { entry, rates, list };
  const { imageBy, callBy, characterEstimate, uncounted = [], ...rest } = list;
  // Where the model runs, or what else makes the list's price uncertain, is in the contract.
  const parts = uncounted.filter((unit) => unit !== "call");
  const named = Object.entries(rates).map(([unit, rate]) => {
    const listed = list.rates[unit as PriceUnit];
    return [unit, listed ? inProportion(rate, listed, listed) : rate];
  });
  return {
    ...rest,
    ...(imageBy && !rates.image && { imageBy }),
    ...(callBy && !rates.call && { callBy }),
    ...(characterEstimate && !rates.character && { characterEstimate }),
    ...(parts.length > 0 && { uncounted: parts }),
    entry,
    rates: { ...list.rates, ...Object.fromEntries(named) },
    list,
  };
}

/** Fees that belong to no model: a contract's multiplier leaves them. */
const FEES: ReadonlySet<string> = new Set(["web_search", "file_search", "source"]);

const TOKENS = [
  ["uncachedInputTokens", "input"],
  ["cacheReadTokens", "cache_read"],
  ["cacheWrite5mTokens", "cache_write_5m"],
  ["cacheWrite1hTokens", "cache_write_1h"],
  ["audioInputTokens", "audio_input"],
  ["imageInputTokens", "image_input"],
  ["outputTokens", "output"],
  ["audioOutputTokens", "audio_output"],
  ["imageOutputTokens", "image_output"],
] as const satisfies readonly (readonly [keyof Usage, PriceUnit])[];
const SEARCHES = [
  ["webSearches", "web_search"],
  ["fileSearches", "file_search"],
  ["searchSources", "source"],
] as const satisfies readonly (readonly [keyof Usage, PriceUnit])[];

/**
 * The part of a usage that an administrator's price covers: what neither it nor the list has a rate for is left out.
 * Sound and images in tokens stay, as text. A price per image, character or call alone covers the tokens, too.
 */
export function coveredPart({ rates, list }: PriceEntry, usage: Usage): { usage: Usage; isWhole: boolean } {
  const byTokens = list === null && TOKENS.some(([, unit]) => rates[unit]);
  const lacking = [...(byTokens ? TOKENS : []), ...SEARCHES].filter(
    ([count, unit]) => !rates[unit] && (usage[count] ?? 0) > 0,
  );
  const covered = { ...usage, ...Object.fromEntries(lacking.map(([count]) => [count, 0])) };
  return { usage: covered, isWhole: lacking.length === 0 };
}

/** All of its rates times `factor`, but for fees that belong to no model. */
export function timesFactor(
  { rates, imageBy, callBy, characterEstimate, audioHour }: PriceEntry,
  factor: Exact,
): Partial<PriceEntry> {
  const each = <Key extends string>(of: Readonly<Partial<Record<Key, Rate>>>) =>
    Object.fromEntries(
      Object.entries<Rate>(of as Record<Key, Rate>).map(([key, rate]) => [
        key,
        FEES.has(key) ? rate : rateTimes(rate, factor),
      ]),
    );
  return {
    rates: each(rates),
    ...(imageBy && { imageBy: each(imageBy) }),
    ...(callBy && { callBy: each(callBy) }),
    ...(characterEstimate && { characterEstimate: rateTimes(characterEstimate, factor) }),
    ...(audioHour && { audioHour: product(audioHour, factor) }),
  };
}
