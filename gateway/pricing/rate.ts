import { decimalQuotient, type Exact, formatDecimal, isZero, product, shiftDown } from "#shared/decimal.ts";
import { words } from "#shared/words.ts";

export const TOKEN_UNITS = words(
  "input cache_read cache_audio_read cache_write_5m cache_write_1h audio_input image_input output",
  "reasoning audio_output image_output",
);

/** Units other than tokens. */
export const PIECE_UNITS = words("image character search_unit web_search file_search source call");

type TokenUnit = (typeof TOKEN_UNITS)[number];
export type PriceUnit = TokenUnit | (typeof PIECE_UNITS)[number];

/** USD per unit, as text and as the equal decimal. */
export type Amount = { usdPerUnit: string; exact: Exact };

/** The price of one unit. A tier applies to the whole call once its input exceeds `aboveInputTokens`. */
export type Rate = Amount & { tiers: readonly Tier[]; isFree: boolean };
type Tier = Amount & { aboveInputTokens: number };

export type Rates = Readonly<Partial<Record<PriceUnit, Rate>>>;

/** A price: its source (`list:anthropic/claude-sonnet-4-5`, `override:<id>`, `discount:<id>`) and rates. */
export type PriceEntry = {
  entry: string;
  rates: Rates;
  /** Images by size and quality; `rates.image` is the highest of them. */
  imageBy?: Readonly<Record<string, Rate>>;
  /** Calls by their search; `rates.call` is the highest of them. */
  callBy?: Readonly<Record<string, Rate>>;
  /** An estimate per character of speech, for answers that do not report the tokens they are billed by. */
  characterEstimate?: Rate;
  /** Of an administrator's or a discounted price: the list's, null if it has none. */
  list?: PriceEntry | null;
  /** A search by the older tool (`web_search_preview`), if it costs more than `web_search`. */
  previewSearch?: Rate;
  /** USD per hour of sound that was transcribed. */
  audioHour?: Exact;
  /** Shorter sound is billed as this many seconds. */
  audioSecondsMin?: number;
  /** Units with parts that the list prices separately and no usage reports; `call`: something else that no usage reports. */
  uncounted?: readonly PriceUnit[];
};

/** Prefix of built-in list entries. */
export const LIST_PREFIX = "list:";
export const isListPrice = ({ entry }: Pick<PriceEntry, "entry">): boolean => entry.startsWith(LIST_PREFIX);

/** Prices are published per 10^n units. */
export const PLACES = { million: 6, thousand: 3, one: 0 } as const;

/** Makes a rate from a price per `10^places` units and tiers in any order. */
export function ratePer(price: Exact, places: number, tiers: readonly [number, Exact][] = []): Rate {
  const sorted = tiers
    .toSorted(([a], [b]) => a - b)
    .map(([aboveInputTokens, tierPrice]) => ({ aboveInputTokens, ...amountPer(tierPrice, places) }));
  return rate(amountPer(price, places), sorted);
}

export function rateTimes(one: Rate, factor: Exact): Rate {
  const scaled = ({ exact }: Amount): Amount => amount(product(exact, factor));
  return rate(
    scaled(one),
    one.tiers.map((tier) => ({ ...tier, ...scaled(tier) })),
  );
}

/** The rate whose relation to `target` is that of `one` to `base`: steps included. Null without a base. */
export function inProportion(one: Amount, base: Amount, target: Rate): Rate {
  if (isZero(base.exact)) return rate(one, target.tiers);
  const related = ({ exact }: Amount): Amount =>
    amount(decimalQuotient(product(one.exact, exact), base.exact));
  return rate(
    related(target),
    target.tiers.map((tier) => ({ ...tier, ...related(tier) })),
  );
}

const rate = (base: Amount, tiers: readonly Tier[]): Rate => ({
  ...base,
  tiers,
  isFree: [base, ...tiers].every(({ exact }) => isZero(exact)),
});

const amountPer = (price: Exact, places: number): Amount => amount(shiftDown(price, places));

const amount = (exact: Exact): Amount => ({ usdPerUnit: formatDecimal(exact), exact });

/** The unit price in a call with `inputTokens` of input. */
export const amountAt = (one: Rate, inputTokens: number): Amount =>
  one.tiers.findLast((tier) => inputTokens > tier.aboveInputTokens) ?? one;
