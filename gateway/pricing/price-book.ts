import { parseDecimal } from "#shared/decimal.ts";
import type { Discount, ListedChange, PriceOverride, Provider } from "../directory.ts";
import type { PriceFacts } from "../price-facts.ts";
import { discounted } from "./discount.ts";
import { hasOtherDates, namesWith, PINNED } from "./list-lookup.ts";
import { type EnteredPrice, enteredPrice, ownEntry, ownPrice } from "./own-price.ts";
import { inPlace, type ListedModel, listedIn, withHourWrites, withoutSteps } from "./price-list.ts";
import { PLACES, type PriceEntry, ratePer } from "./rate.ts";
import { STANDARD, tierPriceOf, undated } from "./tier.ts";
import { tierEntry } from "./tier-entry.ts";
import { dearest, type RatesBy, ratesBy } from "./variant.ts";

type ProviderKind = Provider["kind"];

/** What contracts take off the list's prices, and what a fetched list adds to the built-in one. */
export type ListTerms = { discounts?: readonly Discount[]; listed?: readonly ListedChange[] };

/** Who sells: a provider, its name for a service tier (the default is the standard one), and where the model runs. */
type Seller = Pick<Provider, "kind" | "name" | "location"> & { tier?: string; withinUs?: boolean };

/** A model's names in the order in which an administrator's and the list's prices are looked for. */
export type ModelNames = { own: readonly string[]; list: readonly string[] };

export type PriceBook = {
  /** The price in effect at `atMs` (milliseconds since 1970): an administrator's, else the list's, else null. */
  priceOf(seller: Seller, model: string | ModelNames, atMs: number): PriceEntry | null;
  /** Whether the built-in list has the model for that provider kind, which serves it. */
  knows(kind: ProviderKind, model: string): boolean;
  /** Whether the list has the model with other dates only: it may have another price than they. */
  isOtherDate(kind: ProviderKind, model: string): boolean;
  /** Whether some vendor gives names like the model's. */
  isVendors(model: string): boolean;
  /** Null: not in the list. */
  limits(kind: ProviderKind, model: string): { contextTokens: number | null };
};

/** Clients choose the model names, so the cache is bounded. */
const LISTED_KEPT_MAX = 4096;
const MINUTE_MS = 60_000;

/**
 * Prices by provider, model and time. Among an administrator's overrides, one for this provider wins over one for any;
 * then the latest that is in effect. The list's prices have the contract's discounts. @throws RangeError if an override is
 * not a decimal.
 */
export function priceBook(
  overrides: readonly PriceOverride[],
  catalog: Readonly<Record<ProviderKind, PriceFacts>>,
  { discounts = [], listed: changes = [] }: ListTerms = {},
): PriceBook {
  const namesOf = changes.length === 0 ? PINNED : namesWith(changes);
  const listedUnder = listedBy(listedIn(namesOf));
  const byModel = Map.groupBy(overrides.map(enteredPrice), ({ override }) => override.model);
  const cache = new Map<string, { listed: ListedModel | null }>();

  const ownModel = (kind: ProviderKind, model: string): ListedModel | null => {
    const { prices = {} } = catalog[kind];
    const own = prices[[model, undated(model)].find((name) => Object.hasOwn(prices, name)) ?? ""];
    return own ? { price: ownPrice(`${kind}/${model}`, own), contextTokens: null, timeless: true } : null;
  };

  const listed = (kind: ProviderKind, model: string, atMs: number): ListedModel | null => {
    const always = `${kind} ${model}`;
    // Time-dependent prices change only at full minutes.
    const minute = () => `${always} ${Math.floor(atMs / MINUTE_MS)}`;
    const known = cache.get(always) ?? cache.get(minute());
    if (known !== undefined) return known.listed;
    const found = ownModel(kind, model) ?? listedUnder(catalog[kind], model, atMs);
    if (cache.size >= LISTED_KEPT_MAX) cache.clear();
    cache.set(found && !found.timeless ? minute() : always, { listed: found });
    return found;
  };

  const entered = ({ name, tier = STANDARD }: Seller, models: readonly string[], atMs: number) =>
    firstOf(models, (model) => overridden(byModel.get(model) ?? [], { provider: name, atMs, tier }));

  const priceOf: PriceBook["priceOf"] = (seller, model, atMs) => {
    const names = typeof model === "string" ? { own: [model], list: [model] } : model;
    const price = undiscounted(seller, names, atMs);
    if (discounts.length === 0 || price === null || price.list !== undefined) return price;
    const { name: provider, tier = STANDARD } = seller;
    return discounted(price, discounts, { provider, tier, models: names.own, atMs });
  };

  const undiscounted = (seller: Seller, names: ModelNames, atMs: number): PriceEntry | null => {
    const { kind, tier = STANDARD } = seller;
    const standard = {
      list: firstOf(names.list, (name) => {
        const found = listed(kind, name, atMs)?.price ?? null;
        return found && atPlace(found, seller, bareName(catalog[kind], name));
      }),
      own: byModel.size === 0 ? null : entered({ ...seller, tier: STANDARD }, names.own, atMs),
    };
    if (tier === STANDARD) return standard.own ? ownEntry(standard.own, standard.list) : standard.list;
    const { tiers } = catalog[kind];
    const published = firstOf(names.list, (name) => tierPriceOf(tiers, tier, name));
    return tierEntry({ tier, published, standard, own: entered(seller, names.own, atMs) });
  };

  /** The list price where the model runs. If no one has published whether it costs more there, a sum is a lower bound. */
  const atPlace = (price: PriceEntry, { kind, location, withinUs }: Seller, bare: string): PriceEntry => {
    const { dearer, unsure } = catalog[kind].places ?? {};
    if (withinUs) return inPlace(price, "US");
    if (location == null) return price;
    if (dearer?.test(bare)) return inPlace(price, location);
    return unsure?.test(bare) ? { ...price, uncounted: [...(price.uncounted ?? []), "call"] } : price;
  };

  return {
    priceOf,
    knows: (kind, model) => listed(kind, model, 0) !== null,
    isOtherDate: (kind, model) =>
      listed(kind, model, 0) === null &&
      catalog[kind].priceIds.some((id) => hasOtherDates(id, model, namesOf)),
    isVendors: (model) => Object.values(catalog).some(({ modelNames }) => modelNames?.test(model)),
    limits: (kind, model) => ({ contextTokens: listed(kind, model, 0)?.contextTokens ?? null }),
  };
}

function firstOf<T>(names: readonly string[], of: (name: string) => T | null): T | null {
  for (const name of names) {
    const found = of(name);
    if (found !== null) return found;
  }
  return null;
}

type Asked = { provider: string; atMs: number; tier: string };

function overridden(found: readonly EnteredPrice[], { provider, atMs, tier }: Asked): EnteredPrice | null {
  let best: EnteredPrice | null = null;
  for (const one of found) {
    const { override } = one;
    if (override.effectiveFromMs > atMs || override.tier !== tier) continue;
    if (override.provider !== null && override.provider !== provider) continue;
    if (!best || outranks(override, best.override)) best = one;
  }
  return best;
}

const outranks = (a: PriceOverride, b: PriceOverride): boolean =>
  (a.provider === null) === (b.provider === null)
    ? a.effectiveFromMs > b.effectiveFromMs
    : a.provider !== null;

const listedBy =
  (listedModel: ReturnType<typeof listedIn>) =>
  (source: PriceFacts, model: string, atMs: number): ListedModel | null => {
    const { priceIds, flatSince, serves } = source;
    if (serves?.test(model) === false) return null;
    const bare = bareName(source, model);
    const found = listedModel(priceIds, bare, atMs);
    if (!found?.price) return found;
    const price = completed(found.price, source, bare);
    if (!flatSince?.models.test(bare)) return { ...found, price };
    return {
      ...found,
      price: atMs < Date.parse(flatSince.day) ? price : withoutSteps(price),
      timeless: false,
    };
  };

const bareName = ({ modelPrefix = "" }: PriceFacts, model: string): string =>
  model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : model;

/** The list's price with the catalog's additions. */
function completed(listed: PriceEntry, source: PriceFacts, model: string): PriceEntry {
  const { wire, sourcePrice, searchPrice, previewSearch, requestFees = {}, characterEstimates = {} } = source;
  const price = wire === "messages" ? withHourWrites(listed) : listed;
  const estimate = characterEstimates[undated(model)];
  const fees = Object.hasOwn(requestFees, model) ? requestFees[model] : undefined;
  const perPiece = (usd: string) => ratePer(parseDecimal(usd), PLACES.one);
  return {
    ...price,
    rates: {
      ...price.rates,
      ...(sourcePrice !== undefined && { source: perPiece(sourcePrice) }),
      ...(searchPrice !== undefined && { web_search: perPiece(searchPrice) }),
    },
    ...(previewSearch?.models.test(model) && { previewSearch: perPiece(previewSearch.price) }),
    ...(previewSearch?.contentUnsure.test(model) && {
      uncounted: [...(price.uncounted ?? []), "web_search"],
    }),
    ...(fees && withRequestFees(price, ratesBy(fees, PLACES.thousand))),
    ...(estimate !== undefined && { characterEstimate: perPiece(estimate) }),
  };
}

const withRequestFees = ({ rates }: PriceEntry, callBy: RatesBy) => ({
  callBy,
  rates: { ...rates, call: dearest(callBy) },
});
