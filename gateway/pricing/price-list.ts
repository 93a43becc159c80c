import { calcPrice, type ModelPrice, type TieredPrices } from "@pydantic/genai-prices";
import { type Decimal, decimalOfNumber } from "./decimal.ts";
import {
  isListPrice,
  LIST_PREFIX,
  PLACES,
  type PriceEntry,
  type PriceUnit,
  type Rate,
  type Rates,
  ratePer,
  rateTimes,
  TOKEN_UNITS,
} from "./rate.ts";

/** What the built-in list says of a model at one time. */
export type ListedModel = {
  /** Null where the list prices something that we do not count, such as image tokens apart from text, or lacks what is charged besides. */
  price: PriceEntry | null;
  contextTokens: number | null;
  /** The same at any other time. */
  timeless: boolean;
};

/** The list's keys that we count, the unit they price, and per how many units. */
const LIST_KEYS = {
  input_mtok: ["input", PLACES.million],
  cache_read_mtok: ["cache_read", PLACES.million],
  cache_write_mtok: ["cache_write_5m", PLACES.million],
  cache_write_1h_mtok: ["cache_write_1h", PLACES.million],
  input_audio_mtok: ["audio_input", PLACES.million],
  output_mtok: ["output", PLACES.million],
  output_reasoning_mtok: ["reasoning", PLACES.million],
  output_audio_mtok: ["audio_output", PLACES.million],
  rerank_searches_kcount: ["search_unit", PLACES.thousand],
  web_searches_kcount: ["web_search", PLACES.thousand],
  requests_kcount: ["call", PLACES.thousand],
} as const satisfies Record<string, readonly [PriceUnit, number]>;

/** Kinds of token that some models price apart and that no provider's usage figures let us count apart. */
const UNCOUNTED = /^(?:input|output)_(?:image|video|citation).*_mtok$/;

/** Models made for sound. Where the list has the price of their text alone, their sound would pass for text. */
const FOR_SOUND = /[/-]audio(?:-|$)/;

/** Models that search the web at each call, for a fee beside the tokens, and do not tell how often they did. */
const SEARCHES_UNTOLD = /-search-(?:preview|api)(?:-|$)/;

const NAME_LENGTH_MAX = 200;

/**
 * What the list says of `model` at `atMs` (milliseconds since 1970), under the first of the list's provider ids that
 * has it; null where none has. Prices that change by date or time of day are those of that moment (UTC).
 */
export function listedModel(priceIds: readonly string[], model: string, atMs: number): ListedModel | null {
  if (model.length > NAME_LENGTH_MAX) return null;
  for (const providerId of priceIds) {
    // The amounts that it calculates are floats: only its matching and its prices are used.
    const found = calcPrice({}, model, { providerId, timestamp: new Date(atMs) });
    if (!found) continue;
    const feeUntold = SEARCHES_UNTOLD.test(model) && found.model_price["requests_kcount"] === undefined;
    return {
      price: feeUntold
        ? null
        : entryOf(`${LIST_PREFIX}${found.provider.id}/${found.model.id}`, found.model_price),
      contextTokens: found.model.context_window ?? null,
      timeless: !Array.isArray(found.model.prices),
    };
  }
  return null;
}

function entryOf(entry: string, prices: ModelPrice): PriceEntry | null {
  if (FOR_SOUND.test(entry) && prices["input_audio_mtok"] === undefined) return null;
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [key, price] of Object.entries(prices)) {
    if (price === undefined) continue;
    if (UNCOUNTED.test(key)) return null;
    if (!isListKey(key)) continue;
    const [unit, places] = LIST_KEYS[key];
    rates[unit] = listRate(price, places);
  }
  return { entry, rates };
}

const isListKey = (key: string): key is keyof typeof LIST_KEYS => Object.hasOwn(LIST_KEYS, key);

function listRate(price: number | TieredPrices, places: number): Rate {
  if (typeof price === "number") return ratePer(decimalOfNumber(price), places);
  const tiers = price.tiers.map((tier): [number, Decimal] => [tier.start, decimalOfNumber(tier.price)]);
  return ratePer(decimalOfNumber(price.base), places, tiers);
}

/** Cache writes kept for an hour cost twice the input (Anthropic's prompt caching), where the list tells only the 5 m price. */
export function withHourWrites(price: PriceEntry): PriceEntry {
  const { input, cache_write_5m, cache_write_1h } = price.rates;
  if (!input || !cache_write_5m || cache_write_1h) return price;
  return { ...price, rates: { ...price.rates, cache_write_1h: rateTimes(input, 2) } };
}

/**
 * The list's price for an answer that was made in the US alone: each kind of token costs 1.1 times as much (Anthropic's
 * pricing of data residency). An administrator's price is what it says.
 */
export function withinUs(price: PriceEntry): PriceEntry {
  if (!isListPrice(price)) return price;
  const rates: { -readonly [unit in keyof Rates]: Rate } = { ...price.rates };
  for (const unit of TOKEN_UNITS) {
    const usual = rates[unit];
    if (usual) rates[unit] = rateTimes(usual, 11, 1);
  }
  return { entry: `${price.entry} (US)`, rates };
}
