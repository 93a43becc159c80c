import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { runLeased, takeRowLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { priceListFetches } from "#drizzle/schema/price-list.ts";
import type { Clock } from "#shared/clock.ts";
import { parsedJson } from "#shared/json.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { listDiff } from "../pricing/list-diff.ts";
import { namesWith } from "../pricing/list-lookup.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Origin } from "../stores/audit.ts";
import { change } from "../stores/change.ts";
import { noteDiff } from "../stores/price-list.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";
import { insertJob } from "./reprice-jobs.ts";

export type FetchPricesDeps = {
  database: Database;
  directory: { current(): Directory; refresh(): Promise<void> };
  reach: OutboundFetch;
  /** The public list's file (`PRICES_URL`); null: it is never fetched. */
  pricesUrl: string | null;
  clock: Clock;
};

const DAY_MS = 86_400_000;
const POLL_MS = 60_000;
const LEASE_MS = 5 * 60_000;
const ANSWER_MS_MAX = 60_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** The list's providers that the catalog asks. */
const LISTED = new Set<string>(Object.values(PROVIDERS).flatMap(({ priceIds }) => [...priceIds]));

/** What a fetch of the list has found. */
export type FetchedPrices = { fetchedAt: string; newModels: number; waiting: number; missing: number };

/**
 * Fetches the public list, and notes what it has beside the current list, for all replicas; null without an address.
 * @throws GatewayError upstream_unreachable if it cannot be had, or is no list
 */
export async function fetchPrices(deps: FetchPricesDeps, origin: Origin): Promise<FetchedPrices | null> {
  if (deps.pricesUrl === null) return null;
  const file = await fetched(deps, deps.pricesUrl);
  await deps.directory.refresh();
  const { listed, settings } = deps.directory.current();
  const diff = listDiff(file, LISTED, namesWith(listed));
  if (diff === null)
    throw new GatewayError("upstream_unreachable", "PRICES_URL does not answer with a price list.");
  const { added, waiting } = await change(deps.database, origin, async (tx, audit) => {
    const noted = await noteDiff(tx, diff, origin.at);
    const after = {
      new: noted.added.map(({ entry }) => entry.id).slice(0, 100),
      waiting: noted.waiting,
      missing: diff.missing.length,
    };
    await audit({ action: "price_list.fetched", subject: new URL(deps.pricesUrl ?? "").host, after });
    return noted;
  });
  await deps.directory.refresh();
  if (added.length > 0 && settings.prices_auto) {
    const from = `${origin.at.toISOString().slice(0, 7)}-01T00:00:00.000Z`;
    const window = { from, to: origin.at.toISOString(), provider: null, model: null };
    await insertJob(deps.database, { selection: { kind: "reprice", ...window }, dryRun: false, origin });
  }
  return {
    fetchedAt: origin.at.toISOString(),
    newModels: added.length,
    waiting,
    missing: diff.missing.length,
  };
}

async function fetched({ reach }: FetchPricesDeps, url: string): Promise<unknown> {
  const fault = (cause?: unknown) =>
    new GatewayError("upstream_unreachable", "The list at PRICES_URL cannot be fetched now.", cause);
  try {
    // The operator's own setting may be a mirror inside; metadata services and redirects are refused as ever.
    const response = await reach(
      { url, allowPrivateNetwork: true },
      { method: "GET", headers: { accept: "application/json" }, signal: AbortSignal.timeout(ANSWER_MS_MAX) },
    );
    if (response.status !== 200) {
      await response.body?.cancel();
      throw fault(new Error(`status ${response.status}`));
    }
    return parsedJson((await bytesUpTo(response, ANSWER_BYTES_MAX, () => fault())).toString("utf8"));
  } catch (error) {
    throw error instanceof GatewayError ? error : fault(error);
  }
}

/** Fetches the list once a day until stopped; any number of gateways may do so. Null: there is no address. */
export function startFetchingPrices(deps: FetchPricesDeps & { log: Log }): Poller | null {
  const { clock, database, log, pricesUrl } = deps;
  if (pricesUrl === null) return null;
  return poll({
    log,
    pollMs: POLL_MS,
    round: async () => {
      const dayAgo = new Date(clock.now().getTime() - DAY_MS).toISOString();
      const { fetchedAt } = priceListFetches;
      const where = sql`coalesce(${fetchedAt}, '-infinity') < ${dayAgo}::timestamptz`;
      const lease = await takeRowLease({ database, clock }, priceListFetches, {
        row: {},
        where,
        leaseMs: LEASE_MS,
      });
      if (lease === null) return false;
      const origin = { actor: "price list", address: null, requestId: null, at: clock.now() };
      const failed = await runLeased(lease, async () => ({
        fetchedAt: (await fetchPrices(deps, origin))?.fetchedAt ?? null,
      }));
      if (failed) log.warn(errorFields(failed.error), "the price list was not fetched");
      return false;
    },
  });
}
