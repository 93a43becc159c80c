import { calcPrice, type ModelPrice, type TieredPrices } from "@pydantic/genai-prices";
import { decimalOfNumber, type Exact, parseDecimal } from "#shared/decimal.ts";
import { type Found, findListed } from "./list-lookup.ts";
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

/** A model's entry in the built-in list at a point in time. */
export type ListedModel = {
  /** Null if the list prices units that are not counted here, such as tokens of video, or lacks a fee that is charged. */
  price: PriceEntry | null;
  contextTokens: number | null;
  /** Does not depend on the time. */
  timeless: boolean;
};

/** The list's supported keys: the unit priced, and per how many units. */
const LIST_KEYS = {
  input_mtok: ["input", PLACES.million],
  cache_read_mtok: ["cache_read", PLACES.million],
  cache_write_mtok: ["cache_write_5m", PLACES.million],
  cache_write_1h_mtok: ["cache_write_1h", PLACES.million],
  input_audio_mtok: ["audio_input", PLACES.million],
  input_image_mtok: ["image_input", PLACES.million],
  output_mtok: ["output", PLACES.million],
  output_reasoning_mtok: ["reasoning", PLACES.million],
  output_audio_mtok: ["audio_output", PLACES.million],
  output_image_mtok: ["image_output", PLACES.million],
  rerank_searches_kcount: ["search_unit", PLACES.thousand],
  web_searches_kcount: ["web_search", PLACES.thousand],
  requests_kcount: ["call", PLACES.thousand],
} as const satisfies Record<string, readonly [PriceUnit, number]>;

/** Tokens that some models price separately but that no provider reports separately. */
const UNCOUNTED = /^(?:input|output)_(?:video|citation).*_mtok$/;

/** Audio models. If the list only has their text prices, audio would be charged as text. */
const AUDIO_MODELS = /[/-]audio(?:-|$)/;

/** Models that search the web on every call for an additional fee, but do not report the number of searches. */
const UNREPORTED_SEARCHES = /-search-(?:preview|api)(?:-|$)/;

const NAME_LENGTH_MAX = 200;

/**
 * The entry for `model` at `atMs` (milliseconds since 1970) under the first of the list's provider ids that has it;
 * null if none has. Prices that depend on date or time of day are those at `atMs` (UTC).
 */
export function listedModel(priceIds: readonly string[], model: string, atMs: number): ListedModel | null {
  if (model.length > NAME_LENGTH_MAX) return null;
  for (const priceId of priceIds) {
    const found = findListed(priceId, model);
    if (!found) continue;
    const prices = pricesAt(found, atMs);
    const feeUnknown = UNREPORTED_SEARCHES.test(model) && prices["requests_kcount"] === undefined;
    return {
      price: feeUnknown ? null : entryOf(`${LIST_PREFIX}${found.provider.id}/${found.model.id}`, prices),
      contextTokens: found.model.context_window ?? null,
      timeless: !Array.isArray(found.model.prices),
    };
  }
  return null;
}

/** The package's calculated amounts are floats: only its choice among prices by date and time of day is used. */
function pricesAt({ provider, model }: Found, atMs: number): ModelPrice {
  if (!Array.isArray(model.prices)) return model.prices;
  const only = { ...provider, models: [{ ...model, match: { equals: model.id } }] };
  return calcPrice({}, model.id, { provider: only, timestamp: new Date(atMs) })?.model_price ?? {};
}

function entryOf(entry: string, prices: ModelPrice): PriceEntry | null {
  if (AUDIO_MODELS.test(entry) && prices["input_audio_mtok"] === undefined) return null;
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
  const tiers = price.tiers.map((tier): [number, Exact] => [
    publishedStart(tier),
    decimalOfNumber(tier.price),
  ]);
  return ratePer(decimalOfNumber(price.base), places, tiers);
}

/** A step is charged above the published number; the list lowers some by one to charge it at the number. */
const publishedStart = ({ start }: { start: number }): number => (start % 1000 === 999 ? start + 1 : start);

const TWICE = parseDecimal("2");
const US_FACTOR = parseDecimal("1.1");

/** Adds the 1 h cache-write price, twice the input (Anthropic's prompt caching), if the list only has the 5 m one. */
export function withHourWrites(price: PriceEntry): PriceEntry {
  const { input, cache_write_5m, cache_write_1h } = price.rates;
  if (!input || !cache_write_5m || cache_write_1h) return price;
  return { ...price, rates: { ...price.rates, cache_write_1h: rateTimes(input, TWICE) } };
}

/**
 * The list price for US-only inference: all tokens cost 1.1 times as much (Anthropic's data residency pricing). An
 * administrator's price is not adjusted.
 */
export function withinUs(price: PriceEntry): PriceEntry {
  if (!isListPrice(price)) return price;
  const rates: { -readonly [unit in keyof Rates]: Rate } = { ...price.rates };
  for (const unit of TOKEN_UNITS) {
    const usual = rates[unit];
    if (usual) rates[unit] = rateTimes(usual, US_FACTOR);
  }
  return { entry: `${price.entry} (US)`, rates };
}
