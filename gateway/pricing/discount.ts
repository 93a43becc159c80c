import { difference, type Exact, parseDecimal, product } from "#shared/decimal.ts";
import { matchesGlob } from "#shared/glob.ts";
import type { Discount } from "../directory.ts";
import { timesFactor } from "./own-price.ts";
import type { PriceEntry } from "./rate.ts";

type Sold = { provider: string; tier: string; models: readonly string[]; atMs: number };

const ONE = parseDecimal("1");
const HUNDREDTH = parseDecimal("0.01");

/** A discount of p percent as the factor 1 - p/100, exact. */
const factorOf = ({ percent }: Discount): Exact => difference(ONE, product(parseDecimal(percent), HUNDREDTH));

const PREFIX = "discount:";
export const isDiscounted = ({ entry }: PriceEntry): boolean => entry.startsWith(PREFIX);

/** What the contract charges instead of the list's price; the price itself without a discount. */
export function discounted(price: PriceEntry, discounts: readonly Discount[], sold: Sold): PriceEntry {
  const [found] = discounts.filter((discount) => isFor(discount, sold)).toSorted(byRank);
  return found
    ? { ...price, entry: `${PREFIX}${found.id}`, list: price, ...timesFactor(price, factorOf(found)) }
    : price;
}

const isFor = (discount: Discount, { provider, tier, models, atMs }: Sold): boolean =>
  discount.provider === provider &&
  discount.fromMs <= atMs &&
  (discount.toMs === null || atMs < discount.toMs) &&
  (discount.tiers === null || discount.tiers.includes(tier)) &&
  (discount.models === null ||
    discount.models.some((glob) => models.some((model) => matchesGlob(glob, model))));

/** One that names models wins, then the latest; equal ones in a fixed order. */
const byRank = (a: Discount, b: Discount): number =>
  Number(a.models === null) - Number(b.models === null) || b.fromMs - a.fromMs || (a.id < b.id ? 1 : -1);
