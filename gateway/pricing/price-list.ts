import {
  calcPrice,
  type ModelInfo,
  type ModelPrice,
  type Provider,
  type TieredPrices,
} from "@pydantic/genai-prices";
import { decimalOfNumber, type Exact, parseDecimal } from "#shared/decimal.ts";
import { findListed, type NamesOf } from "./list-lookup.ts";
import {
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

/** The built-in list; a test compares the version with `package.json`, and the date is that of its publication. */
export const PRICE_LIST = {
  name: "@pydantic/genai-prices",
  version: "0.1.8",
  published: "2026-09-23",
} as const;

const LIST_DAYS_MAX = 30;

/** The list's version and date, and a warning once it may be old. `fetched`: the last fetch; null: never. */
export function priceListAt(nowMs: number, fetched: string | null = null) {
  const { version, published } = PRICE_LIST;
  const atMs = Math.max(Date.parse(published), fetched === null ? 0 : Date.parse(fetched));
  const days = Math.floor((nowMs - atMs) / 86_400_000);
  const warning =
    days > LIST_DAYS_MAX
      ? `The price list is ${days} days old: vendors may have changed prices since. Upgrade, set PRICES_URL, or enter prices of your own.`
      : null;
  return { version, published, fetched, warning };
}

export type ListedModel = {
  /** Null if the list lacks the price of sound that every call is charged for. */
  price: PriceEntry | null;
  contextTokens: number | null;
  /** Does not depend on the time. */
  timeless: boolean;
};

/** The list's supported keys: the unit priced, and per how many units. */
const LIST_KEYS = {
  input_mtok: ["input", PLACES.million],
  cache_read_mtok: ["cache_read", PLACES.million],
  cache_audio_read_mtok: ["cache_audio_read", PLACES.million],
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
  storage_searches_kcount: ["file_search", PLACES.thousand],
  requests_kcount: ["call", PLACES.thousand],
} as const satisfies Record<string, readonly [PriceUnit, number]>;

/** What an hour of transcribed sound costs. */
const AUDIO_HOURS = "input_audio_hours";

/** The shortest sound a vendor bills, in seconds (console.groq.com/docs/speech-to-text, 2026-11-28). */
const AUDIO_SECONDS_MIN: Readonly<Record<string, number>> = { groq: 10 };

/** Keys that repeat others (`audio_hours`), or belong to surfaces that the gateway does not have. */
const IRRELEVANT = new Set([
  AUDIO_HOURS,
  "audio_hours",
  "input_text_messages_kcount",
  "input_document_kpages",
  "input_annotated_document_kpages",
]);

/** What a key prices a part of, if no usage reports that part; `call` for a key that is not known. */
function uncountedIn(key: string): PriceUnit {
  const [, of] = /^(input|output|cache)_[a-z_]+_mtok$/.exec(key) ?? [];
  return of === "cache" ? "cache_read" : of === "input" || of === "output" ? of : "call";
}

/** Audio models. If the list only has their text prices, audio would be charged as text. */
const AUDIO_MODELS = /[/-]audio(?:-|$)/;

/** Models that search the web on every call for an additional fee, but do not report the number of searches. */
const UNREPORTED_SEARCHES = /-search-(?:preview|api)(?:-|$)/;

const NAME_LENGTH_MAX = 200;

/**
 * Looks a list up: the entry for `model` at `atMs` (milliseconds since 1970) under the first of the list's provider ids that has it;
 * null if none has. Prices that depend on date or time of day are those at `atMs` (UTC).
 */
export const listedIn =
  (namesOf: NamesOf) =>
  (priceIds: readonly string[], model: string, atMs: number): ListedModel | null => {
    if (model.length > NAME_LENGTH_MAX) return null;
    for (const priceId of priceIds) {
      const found = findListed(priceId, model, namesOf);
      if (!found) continue;
      const { later } = found.model;
      const { prices: those = found.model.prices } = later.findLast(({ fromMs }) => fromMs <= atMs) ?? {};
      const prices = pricesAt(found.provider, { ...found.model, prices: those }, atMs);
      const price = entryOf(`${LIST_PREFIX}${found.provider.id}/${found.model.id}`, prices);
      const feeUnknown = UNREPORTED_SEARCHES.test(model) && prices["requests_kcount"] === undefined;
      return {
        price: price && feeUnknown ? { ...price, uncounted: ["call"] } : price,
        contextTokens: found.model.context_window ?? null,
        timeless: !Array.isArray(found.model.prices) && later.length === 0,
      };
    }
    return null;
  };

/** The package's calculated amounts are floats: only its choice among prices by date and time of day is used. */
function pricesAt(provider: Provider, model: ModelInfo, atMs: number): ModelPrice {
  if (!Array.isArray(model.prices)) return model.prices;
  const only = { ...provider, models: [{ ...model, match: { equals: model.id } }] };
  return calcPrice({}, model.id, { provider: only, timestamp: new Date(atMs) })?.model_price ?? {};
}

function entryOf(entry: string, prices: ModelPrice): PriceEntry | null {
  if (AUDIO_MODELS.test(entry) && prices["input_audio_mtok"] === undefined) return null;
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  const uncounted: PriceUnit[] = [];
  for (const [key, price] of Object.entries(prices)) {
    if (price === undefined || IRRELEVANT.has(key)) continue;
    if (!isListKey(key)) {
      uncounted.push(uncountedIn(key));
      continue;
    }
    const [unit, places] = LIST_KEYS[key];
    rates[unit] = listRate(price, places);
  }
  const hour = prices[AUDIO_HOURS];
  const audioSecondsMin = AUDIO_SECONDS_MIN[entry.slice(LIST_PREFIX.length).split("/", 1)[0] ?? ""] ?? 0;
  const sound = typeof hour === "number" ? { audioHour: decimalOfNumber(hour), audioSecondsMin } : {};
  return { entry, rates, ...sound, ...(uncounted.length > 0 && { uncounted }) };
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
const PLACE_FACTOR = parseDecimal("1.1");

/** Adds the 1 h cache-write price, twice the input (Anthropic's prompt caching), if the list only has the 5 m one. */
export function withHourWrites(price: PriceEntry): PriceEntry {
  const { input, cache_write_5m, cache_write_1h } = price.rates;
  if (!input || !cache_write_5m || cache_write_1h) return price;
  return { ...price, rates: { ...price.rates, cache_write_1h: rateTimes(input, TWICE) } };
}

/** The price in a place such as `US`: 1.1 times (Anthropic's data residency pricing, and providers/places.ts). */
export function inPlace(price: PriceEntry, place: string): PriceEntry {
  const rates: { -readonly [unit in keyof Rates]: Rate } = { ...price.rates };
  for (const unit of TOKEN_UNITS) {
    const usual = rates[unit];
    if (usual) rates[unit] = rateTimes(usual, PLACE_FACTOR);
  }
  return { ...price, entry: `${price.entry} (${place})`, rates };
}

/** The price without its higher steps for long inputs. */
export function withoutSteps(price: PriceEntry): PriceEntry {
  const rates = Object.entries(price.rates).map(([unit, rate]) => [unit, { ...rate, tiers: [] }]);
  return { ...price, rates: Object.fromEntries(rates) };
}
