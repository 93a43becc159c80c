import type { PriceOverride, Provider } from "../directory.ts";
import type { WireName } from "../surface-facts.ts";
import { parseDecimal } from "./decimal.ts";
import { type ListedModel, listedModel, withHourWrites } from "./price-list.ts";
import { PLACES, type PriceEntry, type PriceUnit, type Rate, ratePer } from "./rate.ts";

type ProviderKind = Provider["kind"];

/** A provider kind's prices in the catalog (providers/catalog.ts). */
type PriceSource = {
  wire: WireName;
  priceIds: readonly string[];
  modelPrefix?: string;
  prices?: Readonly<Record<string, OwnPrice>>;
};

/** USD per million tokens, and per piece. */
type OwnPrice = { input: string; output: string; image?: string; character?: string; searchUnit?: string };

export type PriceBook = {
  /** The price in effect at `atMs` (milliseconds since 1970): an administrator's, else the list's, else null. */
  priceOf(provider: Pick<Provider, "kind" | "name">, model: string, atMs: number): PriceEntry | null;
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
  const byModel = Map.groupBy(overrides.map(overriding), ({ override }) => override.model);
  const cache = new Map<string, { listed: ListedModel | null }>();

  const ownModel = (kind: ProviderKind, model: string): ListedModel | null => {
    const { prices = {} } = catalog[kind];
    const own = Object.hasOwn(prices, model) ? prices[model] : undefined;
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

  return {
    priceOf({ kind, name }, model, atMs) {
      const own = overridden(byModel.get(model) ?? [], name, atMs);
      return own ? withSearches(own, listPrice(kind, model, atMs)) : listPrice(kind, model, atMs);
    },
    knows: (kind, model) => listed(kind, model, 0) !== null,
    limits: (kind, model) => ({ contextTokens: listed(kind, model, 0)?.contextTokens ?? null }),
  };
}

function overridden(found: readonly Overriding[], providerName: string, atMs: number): PriceEntry | null {
  let best: Overriding | null = null;
  for (const one of found) {
    const { provider, effectiveFromMs } = one.override;
    if (effectiveFromMs > atMs || (provider !== null && provider !== providerName)) continue;
    if (!best || outranks(one.override, best.override)) best = one;
  }
  return best?.price ?? null;
}

/** An administrator cannot set the price of a web search, so the list's price applies. */
function withSearches(own: PriceEntry, list: PriceEntry | null): PriceEntry {
  const searches = list?.rates.web_search;
  return searches ? { ...own, rates: { ...own.rates, web_search: searches } } : own;
}

const outranks = (a: PriceOverride, b: PriceOverride): boolean =>
  (a.provider === null) === (b.provider === null)
    ? a.effectiveFromMs > b.effectiveFromMs
    : a.provider !== null;

/** The columns of an administrator's price: tokens per million, the rest per piece. */
const COLUMNS = [
  ["input", "input", PLACES.million],
  ["output", "output", PLACES.million],
  ["cachedInput", "cache_read", PLACES.million],
  ["cacheWrite5m", "cache_write_5m", PLACES.million],
  ["cacheWrite1h", "cache_write_1h", PLACES.million],
  ["perImage", "image", PLACES.one],
  ["perCharacter", "character", PLACES.one],
  ["perCall", "call", PLACES.one],
] as const satisfies readonly (readonly [keyof PriceOverride, PriceUnit, number])[];

function overriding(override: PriceOverride): Overriding {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of COLUMNS) {
    const price = override[column];
    if (price !== null) rates[unit] = ratePer(parseDecimal(price), places);
  }
  return { override, price: { entry: `override:${override.id}`, rates } };
}

function listedUnder(source: PriceSource, model: string, atMs: number): ListedModel | null {
  const { wire, priceIds, modelPrefix = "" } = source;
  const bare = model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : model;
  const found = listedModel(priceIds, bare, atMs);
  if (!found?.price || wire !== "messages") return found;
  return { ...found, price: withHourWrites(found.price) };
}

const OWN_COLUMNS = [
  ["input", "input", PLACES.million],
  ["output", "output", PLACES.million],
  ["image", "image", PLACES.one],
  ["character", "character", PLACES.one],
  ["searchUnit", "search_unit", PLACES.one],
] as const satisfies readonly (readonly [keyof OwnPrice, PriceUnit, number])[];

function ownPrice(name: string, own: OwnPrice): PriceEntry {
  const rates: Partial<Record<PriceUnit, Rate>> = {};
  for (const [column, unit, places] of OWN_COLUMNS) {
    const price = own[column];
    if (price !== undefined) rates[unit] = ratePer(parseDecimal(price), places);
  }
  return { entry: `list:${name}`, rates };
}
