import { findProvider } from "@pydantic/genai-prices";
import { readEnd } from "#shared/admin/fields.ts";
import type { PricesInForce } from "#shared/admin/prices-in-force.ts";
import { formatDecimal, parseDecimal, product } from "#shared/decimal.ts";
import type { Directory, Provider } from "../directory.ts";
import { refuse } from "../errors.ts";
import { isDiscounted } from "../pricing/discount.ts";
import { priceBook } from "../pricing/price-book.ts";
import { PRICE_LIST, priceListAt } from "../pricing/price-list.ts";
import { isListPrice, LIST_PREFIX, type PriceEntry, type PriceUnit } from "../pricing/rate.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { listCalledModels } from "../stores/spend.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { readParameters } from "./list.ts";

const USED_DAYS_MS = 30 * 86_400_000;
const MILLION = parseDecimal("1000000");

type Sold = { provider: string; model: string };
type Row = PricesInForce["data"][number];

/** Standard prices of models that were called in the last 30 days, are targets of routes or have an own price. */
export async function pricesInForce(deps: AdminDeps, request: Request): Promise<PricesInForce> {
  const { on } = readParameters(request, ["on"]);
  const nowMs = deps.clock.now().getTime();
  const endMs = on === undefined ? nowMs : readEnd(on);
  if (endMs === null) refuse("on: Expected a date.");
  const atMs = on === undefined ? nowMs : endMs - 1;
  const since = new Date(nowMs - USED_DAYS_MS).toISOString();
  const called = await readDatabase(deps, (db) => listCalledModels(db, since));
  const directory = deps.directory.current();
  const book = priceBook(directory.prices, PROVIDERS, directory);
  const data = [...called, ...targetsIn(directory)].flatMap(({ provider: name, model }): [string, Row][] => {
    const provider = directory.providers.get(name);
    if (!provider) return [];
    return [[`${name}\n${model}`, rowOf(provider, model, book.priceOf(provider, model, atMs))]];
  });
  const at = new Date(atMs).toISOString();
  const rows = [...new Map(data).values()].map((row) => ({ ...row, since: sinceOf(row, directory) }));
  return { at, list: { ...PRICE_LIST, ...priceListAt(nowMs, directory.listFetchedAt) }, data: rows };
}

const targetsIn = ({ routes, prices }: Directory): Sold[] => [
  ...[...routes.values()].flatMap(({ provider, model, fallbacks }) => [{ provider, model }, ...fallbacks]),
  ...prices.flatMap(({ provider, model }) => (provider === null ? [] : [{ provider, model }])),
];

const sinceOf = ({ entry }: Row, { prices, discounts }: Directory): string | null => {
  const fromMs =
    prices.find(({ id }) => entry === id)?.effectiveFromMs ??
    discounts.find(({ id }) => entry === id)?.fromMs;
  return fromMs === undefined ? null : new Date(fromMs).toISOString();
};

function rowOf({ name }: Provider, model: string, price: PriceEntry | null): Row {
  const amount = (unit: PriceUnit, isToken = true) => {
    const rate = price?.rates[unit];
    return rate ? formatDecimal(isToken ? product(rate.exact, MILLION) : rate.exact) : null;
  };
  const [vendor = ""] = price?.entry.slice(LIST_PREFIX.length).split("/") ?? [];
  const isListed = price !== null && isListPrice(price);
  return {
    provider: name,
    model,
    source: price && (isListed ? "list" : isDiscounted(price) ? "discount" : "own"),
    entry: price?.entry.replace(/^\w+:/, "") ?? null,
    since: null,
    url: isListed ? (findProvider({ providerId: vendor })?.pricing_urls?.[0] ?? null) : null,
    input: amount("input"),
    output: amount("output"),
    cached_input: amount("cache_read"),
    cache_write: amount("cache_write_5m"),
    per_call: amount("call", false),
  };
}
