import { sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { directoryVersions } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type Audit, auditIn, type Origin } from "./audit.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Anything that selects: the pool, or a transaction. */
export type Reader = Pick<Transaction, "select" | "selectDistinct">;

/**
 * One change to what administrators set, its entries in the audit log, and the mark that makes every replica load it.
 * The mark is written first: its row lock lets one change in at a time, so that what a change checks (a route's provider
 * exists) is still true when it commits, and versions become visible in order.
 * @throws Error if `work` adds no entry to the audit log: nothing is changed unseen.
 */
export const change = <T>(
  database: Database,
  origin: Origin,
  work: (tx: Transaction, audit: Audit) => Promise<T>,
): Promise<T> =>
  audited(database, origin, async (tx, audit) => {
    await markChanged(tx);
    return work(tx, audit);
  });

/** Like `change`, for data that replicas do not cache. @throws Error if `work` adds no entry to the audit log. */
export const audited = <T>(
  database: Database,
  origin: Origin,
  work: (tx: Transaction, audit: Audit) => Promise<T>,
): Promise<T> =>
  withStoreErrors(() =>
    database.db.transaction(async (tx) => {
      const write = auditIn(tx, origin);
      let entries = 0;
      const result = await work(tx, async (entry) => {
        entries += 1;
        await write(entry);
      });
      if (entries === 0) throw new Error("A change added no entry to the audit log.");
      return result;
    }),
  );

/** A change by the gateway itself. It audits what it does, and may find that another replica has done it already. */
export const ownChange = <T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> =>
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
