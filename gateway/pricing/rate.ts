import { type Decimal, formatDecimal, isZero, parseDecimal, shiftDown } from "./decimal.ts";

/** What tokens are charged by. */
export const TOKEN_UNITS = [
  "input",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "audio_input",
  "output",
  "reasoning",
  "audio_output",
] as const;

/** What is charged by the piece. */
export const PIECE_UNITS = ["image", "character", "search_unit", "web_search", "call"] as const;

type TokenUnit = (typeof TOKEN_UNITS)[number];
export type PriceUnit = TokenUnit | (typeof PIECE_UNITS)[number];

/** USD for one unit, an exact decimal. A tier holds for the whole call once its input exceeds the bound. */
export type Rate = { usdPerUnit: string; tiers: readonly Tier[] };
type Tier = { aboveInputTokens: number; usdPerUnit: string };

export type Rates = Readonly<Partial<Record<PriceUnit, Rate>>>;

/** A price: where it comes from (`list:anthropic/claude-sonnet-4-5`, `override:<id>`), and its rates. */
export type PriceEntry = { entry: string; rates: Rates };

/** Prices are published per so many units: the power of ten. */
export const PLACES = { million: 6, thousand: 3, one: 0 } as const;

/** The rate of one unit, from a price per `10^places` units. Throws a RangeError when the price is not a decimal. */
export const ratePer = (price: Decimal, places: number, tiers: readonly [number, Decimal][] = []): Rate => ({
  usdPerUnit: formatDecimal(shiftDown(price, places)),
  tiers: tiers
    .toSorted(([a], [b]) => a - b)
    .map(([aboveInputTokens, tierPrice]) => ({
      aboveInputTokens,
      usdPerUnit: formatDecimal(shiftDown(tierPrice, places)),
    })),
});

export const isFree = ({ usdPerUnit, tiers }: Rate): boolean =>
  [usdPerUnit, ...tiers.map((tier) => tier.usdPerUnit)].every((price) => isZero(parseDecimal(price)));

/** The price of one unit in a call with `inputTokens` of input. */
export const usdPerUnitAt = ({ usdPerUnit, tiers }: Rate, inputTokens: number): string =>
  tiers.findLast((tier) => inputTokens > tier.aboveInputTokens)?.usdPerUnit ?? usdPerUnit;
