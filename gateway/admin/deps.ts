import { Elysia } from "elysia";
import { type Database, type Transaction, within } from "#drizzle/database.ts";
import type { Log } from "#shared/log.ts";
import type { Secret } from "../directory.ts";
import { access } from "../identity/access.ts";
import type { ViewerDeps } from "../identity/viewer.ts";
import type { Audit, Origin } from "../stores/audit.ts";
import { change } from "../stores/change.ts";
import type { RouteClassifier } from "../stores/classifier/classifier.ts";
import type { DirectoryStore } from "../stores/directory/directory.ts";
import type { Sealer } from "../stores/seal.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { LearnedWires } from "../upstream/learned-wires.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import type { ProviderApi } from "../upstream/provider-api.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import type { AddressGuard } from "../upstream/ssrf.ts";

export type AdminDeps = RequestBodyDeps &
  ViewerDeps & {
    directory: Pick<DirectoryStore, "current" | "refresh">;
    classifier: Pick<RouteClassifier, "current" | "training">;
    sealer: Sealer;
    /** Providers' credentials from the environment, by variable; they show which providers are active. */
    providerKeys: ReadonlyMap<string, Secret>;
    /** Signs one-time links to the GitHub App's set-up page. */
    setupKey: Uint8Array;
    addressGuard: Pick<AddressGuard, "saveFault">;
    deployments: Pick<Deployments, "states">;
    learnedWires: Pick<LearnedWires, "of">;
    providerApi: ProviderApi;
    reach: OutboundFetch;
    /** The public price list's file; null: it is not fetched. */
    pricesUrl: string | null;
    log: Log;
    /** Resolves once the calls that have ended so far are in the database. */
    settled(): Promise<void>;
  };

/** A part of the admin API below `/admin/v1/{path}`, whose routes can require a role. */
export const adminPart = <const Path extends string>(deps: ViewerDeps, path: Path) =>
  new Elysia({ name: `admin.${path}`, prefix: `/${path}` as const }).use(access(deps));

/** Makes a change, which `work` adds to the audit log; resolves when it is in force in this process. */
export async function saveChange<T>(
  deps: AdminDeps,
  origin: Origin,
  work: (tx: Transaction, audit: Audit) => Promise<T>,
): Promise<T> {
  const result = await change(deps.database, origin, work);
  await deps.directory.refresh();
  return result;
}

export const readDatabase = <T>(deps: AdminDeps, work: (db: Database["db"]) => PromiseLike<T>): Promise<T> =>
  withStoreErrors(() => work(deps.database.db));

/** Maximum wait of a page for calls that have just ended. */
const SETTLED_MAX_MS = 1000;

/** Waits until calls that have just ended are visible; if they cannot be stored now, the page goes without them. */
export async function awaitSettled(deps: AdminDeps): Promise<void> {
  try {
    await within(SETTLED_MAX_MS, deps.settled());
  } catch {
    // The recorder logs the cause itself.
  }
}
