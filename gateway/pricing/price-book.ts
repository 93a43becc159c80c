import { parseDecimal } from "#shared/decimal.ts";
import type { PriceOverride, Provider } from "../directory.ts";
import type { WireName } from "../surface-facts.ts";
import { type OwnPrice, overridePrice, ownPrice } from "./own-price.ts";
import { type ListedModel, listedModel, withHourWrites } from "./price-list.ts";
import { isListPrice, PLACES, type PriceEntry, ratePer } from "./rate.ts";
import {
  inTier,
  isPricedApart,
  STANDARD,
  type TierPrice,
  type TierPrices,
  tierPriceOf,
  undated,
} from "./tier.ts";

type ProviderKind = Provider["kind"];

/** A provider kind's prices in the catalog (providers/catalog.ts). */
type PriceSource = {
  wire: WireName;
  priceIds: readonly string[];
  modelPrefix?: string;
  prices?: Readonly<Record<string, OwnPrice>>;
  /** USD per character, by model, where the answer does not report the tokens that it is billed by. */
  characterEstimates?: Readonly<Record<string, string>>;
  sourcePrice?: string;
  tiers?: TierPrices;
};

/** Who sells: a provider, and its name for a service tier; the default is the standard one. */
type Seller = Pick<Provider, "kind" | "name"> & { tier?: string };

export type PriceBook = {
  /** The price in effect at `atMs` (milliseconds since 1970): an administrator's, else the list's, else null. */
  priceOf(seller: Seller, model: string, atMs: number): PriceEntry | null;
  /** Whether the built-in list has the model for that provider kind. */
  knows(kind: ProviderKind, model: string): boolean;
  /** Null: not in the list. */
  limits(kind: ProviderKind, model: string): { contextTokens: number | null };
};

type Overriding = { override: PriceOverride; price: PriceEntry };

/** Clients choose the model names, so the cache is bounded. */
const LISTED_KEPT_MAX = 4096;
const MINUTE_MS = 60_000;

/**
 * Prices by provider, model and time. Among an administrator's overrides, one for this provider wins over one for any;
 * then the latest that is in effect. @throws RangeError if an override is not a decimal.
 */
export function priceBook(
  overrides: readonly PriceOverride[],
  catalog: Readonly<Record<ProviderKind, PriceSource>>,
): PriceBook {
  const entered = overrides.map((override) => ({ override, price: overridePrice(override) }));
  const byModel = Map.groupBy(entered, ({ override }) => override.model);
  const cache = new Map<string, { listed: ListedModel | null }>();

  const ownModel = (kind: ProviderKind, model: string): ListedModel | null => {
    const { prices = {} } = catalog[kind];
    const own = prices[[model, undated(model)].find((name) => Object.hasOwn(prices, name)) ?? ""];
    return own ? { price: ownPrice(`${kind}/${model}`, own), contextTokens: null, timeless: true } : null;
  };

  const listed = (kind: ProviderKind, model: string, atMs: number): ListedModel | null => {
    const always = `${kind} ${model}`;
    // Time-dependent prices change only at full minutes.
    const minute = `${always} ${Math.floor(atMs / MINUTE_MS)}`;
    const known = cache.get(always) ?? cache.get(minute);
    if (known !== undefined) return known.listed;
    const found = ownModel(kind, model) ?? listedUnder(catalog[kind], model, atMs);
    if (cache.size >= LISTED_KEPT_MAX) cache.clear();
    cache.set(found && !found.timeless ? minute : always, { listed: found });
    return found;
  };

  const listPrice = (kind: ProviderKind, model: string, atMs: number) =>
    listed(kind, model, atMs)?.price ?? null;

  const priceOf: PriceBook["priceOf"] = ({ kind, name, tier = STANDARD }, model, atMs) => {
    const own = overridden(byModel.get(model) ?? [], { provider: name, atMs, tier });
    if (own && own.override.multiplier === null) return withSearches(own.price, listPrice(kind, model, atMs));
    if (tier === STANDARD) return listPrice(kind, model, atMs);
    const standard = priceOf({ kind, name }, model, atMs);
    const published = tierPriceOf(catalog[kind].tiers, tier, model);
    return standard && tierPrice(standard, { tier, entered: own, published });
  };

  return {
    priceOf,
    knows: (kind, model) => listed(kind, model, 0) !== null,
    limits: (kind, model) => ({ contextTokens: listed(kind, model, 0)?.contextTokens ?? null }),
  };
}

type InTier = { tier: string; entered: Overriding | null; published: TierPrice | null };

/** The price of a tier that has no amounts of its own: a multiple of the standard price, or null. */
function tierPrice(standard: PriceEntry, { tier, entered, published }: InTier): PriceEntry | null {
  const multiplier = entered?.override.multiplier;
  if (multiplier) return { ...inTier(standard, tier, multiplier), entry: entered.price.entry };
  // Amounts belong to the list; a multiple can be taken of an administrator's price, too.
  if (published !== null && (typeof published === "string" || isListPrice(standard))) {
    return inTier(standard, tier, published);
  }
  return isPricedApart(tier) ? null : standard;
}

type Asked = { provider: string; atMs: number; tier: string };

function overridden(found: readonly Overriding[], { provider, atMs, tier }: Asked): Overriding | null {
  let best: Overriding | null = null;
  for (const one of found) {
    const { override } = one;
    if (override.effectiveFromMs > atMs || override.tier !== tier) continue;
    if (override.provider !== null && override.provider !== provider) continue;
    if (!best || outranks(override, best.override)) best = one;
  }
  return best;
}

/** An administrator cannot set the price of a search, so the list's price applies. */
function withSearches(own: PriceEntry, list: PriceEntry | null): PriceEntry {
  const { web_search, source } = list?.rates ?? {};
  if (!web_search && !source) return own;
  return { ...own, rates: { ...own.rates, ...(web_search && { web_search }), ...(source && { source }) } };
}

const outranks = (a: PriceOverride, b: PriceOverride): boolean =>
  (a.provider === null) === (b.provider === null)
    ? a.effectiveFromMs > b.effectiveFromMs
    : a.provider !== null;

function listedUnder(source: PriceSource, model: string, atMs: number): ListedModel | null {
  const { priceIds, modelPrefix = "" } = source;
  const bare = model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : model;
  const found = listedModel(priceIds, bare, atMs);
  return found?.price ? { ...found, price: completed(found.price, source, bare) } : found;
}

/** The list's price with the catalog's additions. */
function completed(listed: PriceEntry, source: PriceSource, model: string): PriceEntry {
  const { wire, sourcePrice, characterEstimates = {} } = source;
  const price = wire === "messages" ? withHourWrites(listed) : listed;
  const estimate = characterEstimates[undated(model)];
  const perPiece = (usd: string) => ratePer(parseDecimal(usd), PLACES.one);
  return {
    ...price,
    ...(sourcePrice !== undefined && { rates: { ...price.rates, source: perPiece(sourcePrice) } }),
    ...(estimate !== undefined && { characterEstimate: perPiece(estimate) }),
  };
}
