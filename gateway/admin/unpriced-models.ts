import type { UnpricedModels } from "#shared/admin/prices.ts";
import { STANDARD, tierOf } from "../pricing/tier.ts";
import { listUnpricedModels, type UnpricedModel } from "../repricing/unpriced-records.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";

const DAYS_MS = 7 * 86_400_000;

/** Models of the last 7 days whose calls have no cost, and how to price them. */
export async function unpricedModels(deps: AdminDeps): Promise<UnpricedModels> {
  await awaitSettled(deps);
  const from = new Date(deps.clock.now().getTime() - DAYS_MS).toISOString();
  const found = await readDatabase(deps, (db) => listUnpricedModels(db, from));
  return { from, data: found.map(viewOf) };
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
