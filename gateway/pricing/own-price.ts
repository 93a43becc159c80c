import { isOver, parseDecimal } from "#shared/decimal.ts";
import type { PriceOverride } from "../directory.ts";
import { LIST_PREFIX, PLACES, type PriceEntry, type PriceUnit, type Rate, ratePer } from "./rate.ts";

/** A model's price in the catalog of providers. USD per million tokens, and per piece. */
export type OwnPrice = {
  input?: string;
  output?: string;
  image?: string;
  /** By size and quality, such as `1024x1024 hd`. */
  imageBy?: Readonly<Record<string, string>>;
  character?: string;
  searchUnit?: string;
};

type Columns<Price> = readonly (readonly [keyof Price, PriceUnit, number])[];

const OWN_COLUMNS = [
  ["input", "input", PLACES.million],
  ["output", "output", PLACES.million],
  ["image", "image", PLACES.one],
  ["character", "character", PLACES.one],
  ["searchUnit", "search_unit", PLACES.one],
] as const satisfies Columns<OwnPrice>;

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
export function ownPrice(name: string, own: OwnPrice): PriceEntry {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of OWN_COLUMNS) {
    const price = own[column];
    if (price !== undefined) rates[unit] = ratePer(parseDecimal(price), places);
  }
  const entry = `${LIST_PREFIX}${name}`;
  if (!own.imageBy) return { entry, rates };
  const byVariant = Object.fromEntries(
    Object.entries(own.imageBy).map(([variant, price]) => [
      variant,
      ratePer(parseDecimal(price), PLACES.one),
    ]),
  );
  const dearest = Object.values(byVariant).reduce((a, b) => (isOver(b.exact, a.exact) ? b : a));
  return { entry, rates: { ...rates, image: dearest }, imageBy: byVariant };
}

/** @throws RangeError if an amount is not a decimal. */
export function overridePrice(override: PriceOverride): PriceEntry {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of OVERRIDE_COLUMNS) {
    const price = override[column];
    if (price !== null) rates[unit] = ratePer(parseDecimal(price), places);
  }
  return { entry: `override:${override.id}`, rates };
}

/** Size and quality where the request names neither. */
const USUAL_SIZE = "1024x1024";
const USUAL_QUALITY = "standard";

/** The price of images of the requested size and quality (`1024x1792 hd`; null or `auto` is the default). */
export function ofVariant(price: PriceEntry, variant: string | null): PriceEntry {
  if (!price.imageBy) return price;
  const [size = "auto", quality = "auto"] = variant?.split(" ") ?? [];
  const name = `${size === "auto" ? USUAL_SIZE : size} ${quality === "hd" ? quality : USUAL_QUALITY}`;
  const { image: _, ...others } = price.rates;
  const image = Object.hasOwn(price.imageBy, name) ? price.imageBy[name] : undefined;
  return { ...price, rates: image ? { ...others, image } : others };
}
