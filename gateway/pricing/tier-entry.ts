import type { TierPrice } from "../price-facts.ts";
import { type EnteredPrice, ownEntry } from "./own-price.ts";
import { inProportion, PIECE_UNITS, type PriceEntry, type PriceUnit, type Rate, type Rates } from "./rate.ts";
import { inTier } from "./tier.ts";

export type TierOffers = {
  tier: string;
  /** The tier's price in the catalog; null: it has none. */
  published: TierPrice | null;
  /** An administrator's price for the tier. */
  own: EnteredPrice | null;
  /** The model's prices without a tier. */
  standard: { list: PriceEntry | null; own: EnteredPrice | null };
};

/** The price of a tier with prices of its own; null: not known. An administrator's wins, for it or without a tier. */
export function tierEntry({ tier, published, own, standard }: TierOffers): PriceEntry | null {
  const list = standard.list && published !== null ? inTier(standard.list, tier, published) : null;
  const usual = standard.own ? ownEntry(standard.own, standard.list) : standard.list;
  if (own?.override.multiplier) {
    const entry = `override:${own.override.id}`;
    return usual && { ...inTier(usual, tier, own.override.multiplier), entry, list };
  }
  if (own) return withFees(ownEntry(own, list), standard.list);
  if (!standard.own || !usual || published === null) return list;
  if (typeof published === "string" || "times" in published)
    return { ...inTier(usual, tier, published), list };
  return (
    list && standard.list && { ...usual, rates: related(usual.rates, standard.list.rates, list.rates), list }
  );
}

/** Fees do not change with the tier, so that the list knows them also of a tier that it lacks. */
function withFees(own: PriceEntry | null, standard: PriceEntry | null): PriceEntry | null {
  if (!own || own.list || !standard) return own;
  const fees = PIECE_UNITS.map((unit) => [unit, standard.rates[unit]] as const).filter(([, rate]) => rate);
  return { ...own, rates: { ...Object.fromEntries(fees), ...own.rates } };
}

/** The administrator's standard rates, changed as the tier changes the list's. */
const related = (own: Rates, standard: Rates, list: Rates): Rates =>
  Object.fromEntries(
    Object.entries<Rate>(list as Record<PriceUnit, Rate>).map(([key, rate]) => {
      const unit = key as PriceUnit;
      const [one, base] = [own[unit], standard[unit]];
      return [unit, one && base ? inProportion(one, base, rate) : rate];
    }),
  );
