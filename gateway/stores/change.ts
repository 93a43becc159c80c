import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { directoryVersions } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { withStoreErrors } from "./store-errors.ts";

/** A transaction of drizzle's, in which a change reads what it must hold to and writes. */
export type Transaction = Parameters<Parameters<Database["db"]["transaction"]>[0]>[0];

/** Anything that selects: the pool, or a transaction. */
export type Reader = Pick<Transaction, "select">;

/**
 * One change to what administrators set, and the mark that makes every replica load it. The mark is written first: its
 * row lock lets one change in at a time, so that what a change checks (a route's provider exists) still holds when it
 * commits, and versions become visible in order.
 */
export const change = <T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  withStoreErrors(() =>
    database.db.transaction(async (tx) => {
      await markChanged(tx);
      return await work(tx);
    }),
  );

async function markChanged(tx: Transaction): Promise<void> {
  await tx
    .insert(directoryVersions)
    .values({ orgId: DEFAULT_ORG, version: 1 })
    .onConflictDoUpdate({
      target: directoryVersions.orgId,
      set: { version: sql`${directoryVersions.version} + 1` },
    });
}
