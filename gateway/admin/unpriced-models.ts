import type { UnpricedModels } from "#shared/admin/prices.ts";
import type { Provider } from "../directory.ts";
import { type PriceBook, priceBook } from "../pricing/price-book.ts";
import { STANDARD, tierOf } from "../pricing/tier.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { listUnpricedModels, type UnpricedModel } from "../repricing/unpriced-models.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";

const DAYS_MS = 7 * 86_400_000;

/** Models of the last 7 days whose calls have no cost, and how to price them. */
export async function unpricedModels(deps: AdminDeps): Promise<UnpricedModels> {
  await awaitSettled(deps);
  const from = new Date(deps.clock.now().getTime() - DAYS_MS).toISOString();
  const found = await readDatabase(deps, (db) => listUnpricedModels(db, from));
  const { providers, listed } = deps.directory.current();
  const list = priceBook([], PROVIDERS, { listed });
  const named = found.map((one) => ({
    ...one,
    model: nameToPrice(one, list, providers.get(one.provider ?? "")),
  }));
  return { from, data: merged(named).map(viewOf) };
}

/** The name that lacks a price: that of the model that answered, if the list has the one that was asked for. */
function nameToPrice(
  { model, responseModel }: UnpricedModel,
  list: PriceBook,
  provider: Provider | undefined,
): string | null {
  const isListed = provider !== undefined && model !== null && list.knows(provider.kind, model);
  return isListed ? (responseModel ?? model) : model;
}

/** One row for each name, those with the most calls first. */
function merged(found: readonly UnpricedModel[]): UnpricedModel[] {
  const same = Map.groupBy(found, ({ provider, model, serviceTier, metered }) =>
    JSON.stringify([provider, model, serviceTier, metered]),
  );
  return [...same.values()].flatMap(together).sort((a, b) => b.requests - a.requests);
}

function together(rows: readonly UnpricedModel[]): UnpricedModel[] {
  const [first] = rows;
  if (!first) return [];
  const requests = rows.reduce((sum, row) => sum + row.requests, 0);
  const [firstSeen = first.firstSeen] = rows.map((row) => row.firstSeen).sort();
  const lastSeen =
    rows
      .map((row) => row.lastSeen)
      .sort()
      .at(-1) ?? first.lastSeen;
  return [{ ...first, requests, firstSeen, lastSeen }];
}

function viewOf(found: UnpricedModel): UnpricedModels["data"][number] {
  const { provider, model, serviceTier, requests, firstSeen, lastSeen } = found;
  const { name } = tierOf(serviceTier);
  const tier = name === STANDARD ? null : name;
  const seen = { requests, first_seen: firstSeen, last_seen: lastSeen };
  return { provider, model, tier, ...seen, ...explained({ ...found, tier }) };
}

function explained({ provider, model, tier, metered, firstSeen }: UnpricedModel & { tier: string | null }) {
  if (!metered) return { reason: "The provider reported no usage, so that no price applies.", remedy: null };
  if (provider === null || model === null) return { reason: "The call named no model.", remedy: null };
  const from = firstSeen.slice(0, 10);
  const amounts = { input: "…", output: "…" };
  const price = { provider, model, ...(tier !== null && { tier }), effective_from: from, ...amounts };
  const inTier = tier === null ? "" : ` in the service tier ${tier}`;
  return {
    reason: `No price is known for ${model} of ${provider}${inTier}, or it applies to a count that was not reported.`,
    remedy:
      `POST /admin/v1/prices ${JSON.stringify(price)} (USD per million tokens), ` +
      `then POST /admin/v1/prices/reprice ${JSON.stringify({ from, to: "<today>" })} or "tallygate reprice".`,
  };
}
