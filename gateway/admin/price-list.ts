import { readInstant } from "#shared/admin/fields.ts";
import { PriceApproval, PriceChanges, PriceChangeView, PriceRefresh } from "#shared/admin/price-changes.ts";
import { viewAs } from "#shared/view-as.ts";
import type { Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { findListed, namesWith } from "../pricing/list-lookup.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { fetchPrices } from "../repricing/fetch-prices.ts";
import { listUnpricedModels } from "../repricing/unpriced-models.ts";
import type { Origin } from "../stores/audit.ts";
import { decideChange, type ListChangeRow, listChanges, missingModels } from "../stores/price-list.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase, saveChange } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { idParameter } from "./list.ts";

const docs = adminRoute("prices");
const NO_ADDRESS =
  "PRICES_URL is not set, so no price list is fetched. Set it to the address of the public list's file.";
const OFFERED_MS = 92 * 86_400_000;
const MINUTE_MS = 60_000;

/** `/admin/v1/prices/refresh` and `/changes`: the public price list, and what it has beside the built-in one. */
export const adminPriceList = (deps: AdminDeps) =>
  adminPart(deps, "prices")
    .post(
      "/refresh",
      async ({ origin }) => {
        const found = await fetchPrices(deps, origin);
        if (!found) throw new GatewayError("not_open", NO_ADDRESS);
        const { fetchedAt, newModels, waiting, missing } = found;
        return { fetched_at: fetchedAt, new_models: newModels, waiting, missing };
      },
      docs({
        summary: "Fetch the public price list now",
        description:
          "From `PRICES_URL`; 409 without it. New models have their price at once. Changed prices of known models wait for approval.",
        answers: { 200: PriceRefresh },
      }),
    )
    .get("/changes", () => changes(deps), {
      ...docs({
        summary: "List what the fetched price list has beside the built-in one, newest first",
        description: "A new model offers its older unpriced records for restatement.",
        answers: { 200: PriceChanges },
      }),
    })
    .post(
      "/changes/:id/approve",
      async ({ request, params, origin }) => {
        const { effective_from: from } = await readJson(deps, request, PriceApproval);
        // Prices change at full minutes.
        const fromMs = readInstant(from ?? "") ?? origin.at.getTime();
        const effectiveFrom = new Date(Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS).toISOString();
        return decided(deps, origin, { id: params.id, state: "approved", effectiveFrom });
      },
      docs({
        summary: "Approve a changed price",
        description:
          "It applies from now on, or from `effective_from`, to the minute. Records keep their price until they are restated. 422 if it does not wait.",
        body: PriceApproval,
        answers: { 200: PriceChangeView },
      }),
    )
    .post(
      "/changes/:id/dismiss",
      ({ params, origin }) =>
        decided(deps, origin, { id: params.id, state: "dismissed", effectiveFrom: null }),
      docs({
        summary: "Dismiss a changed price",
        description: "The same price is not offered again. 422 if it does not wait.",
        answers: { 200: PriceChangeView },
      }),
    );

type Decision = { id: string; state: "approved" | "dismissed"; effectiveFrom: string | null };

const decided = (deps: AdminDeps, origin: Origin, { id, ...decision }: Decision): Promise<PriceChangeView> =>
  saveChange(deps, origin, async (tx, audit) => {
    const by = { actor: origin.actor, decidedAt: origin.at.toISOString() };
    const row = await decideChange(tx, idParameter(id), { ...decision, ...by });
    if (!row) throw new GatewayError("conflict", "No change of this id waits.");
    const view = viewOf(row, []);
    await audit({
      action: `price_list.${decision.state}`,
      subject: `${row.provider}/${row.model}`,
      after: view,
    });
    return view;
  });

async function changes(deps: AdminDeps): Promise<PriceChanges> {
  await awaitSettled(deps);
  const directory = deps.directory.current();
  const rows = await readDatabase(deps, listChanges);
  const offers = rows.some(({ state }) => state === "new") ? await offersOf(deps, directory) : [];
  return {
    fetched_at: directory.listFetchedAt,
    fetches: deps.pricesUrl !== null,
    missing: await readDatabase(deps, missingModels),
    data: rows.map((row) => {
      const own = offers.filter(({ of }) => row.state === "new" && of === `${row.provider}/${row.model}`);
      return viewOf(
        row,
        own.map(({ of: _, ...offer }) => offer),
      );
    }),
  };
}

type Offer = PriceChangeView["offers"][number] & { of: string };

/** Unpriced records whose models the list has now, by the list's entry and the name that calls used. */
async function offersOf(deps: AdminDeps, { providers, listed }: Directory): Promise<Offer[]> {
  const nowMs = deps.clock.now().getTime();
  const namesOf = namesWith(listed);
  const since = new Date(nowMs - OFFERED_MS).toISOString();
  const found = await readDatabase(deps, (db) => listUnpricedModels(db, since));
  return found.flatMap(
    ({ provider, model, responseModel, metered, requests: records, firstSeen }): Offer[] => {
      const kind = providers.get(provider ?? "")?.kind;
      const name = responseModel ?? model;
      if (!kind || name === null || !metered) return [];
      const { priceIds } = PROVIDERS[kind];
      const [match] = priceIds.flatMap((id) => findListed(id, name, namesOf) ?? []);
      if (!match) return [];
      const window = { from: firstSeen, to: new Date(nowMs).toISOString() };
      return [{ of: `${match.provider.id}/${match.model.id}`, model: name, ...window, records }];
    },
  );
}

const viewOf = ({ entry, ...row }: ListChangeRow, offers: PriceChangeView["offers"]): PriceChangeView =>
  viewAs(PriceChangeView, { ...row, after: entry.prices, offers });
