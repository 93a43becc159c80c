import { desc, notInArray } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { routeModels } from "#drizzle/schema/route-models.ts";
import { withStoreErrors } from "../store-errors.ts";

/** Stored classifiers at most: an administrator who takes changes back finds the one of before. */
const KEPT = 5;

export type StoredModel = { packed: Uint8Array<ArrayBuffer>; createdAt: string };

/** The stored classifier of a version; null if there is none. */
export const findRouteModel = (database: Database, version: string): Promise<StoredModel | null> =>
  withStoreErrors(async () => {
    const [row] = await database.db
      .select({ model: routeModels.model, createdAt: routeModels.createdAt })
      .from(routeModels)
      .where(ours(routeModels, { version }));
    return row ? { packed: new Uint8Array(row.model), createdAt: row.createdAt } : null;
  });

/** Stores a classifier, unless a replica that trained the same one was faster, and deletes the oldest. */
export const keepRouteModel = (
  database: Database,
  row: { version: string; model: Uint8Array; report: object; createdAt: string },
): Promise<void> =>
  withStoreErrors(async () => {
    await database.db
      .insert(routeModels)
      .values({ ...row, report: { ...row.report } })
      .onConflictDoNothing();
    const newest = database.db
      .select({ version: routeModels.version })
      .from(routeModels)
      .where(ours(routeModels))
      .orderBy(desc(routeModels.createdAt), desc(routeModels.version))
      .limit(KEPT);
    const isOld = notInArray(routeModels.version, newest);
    await database.db.delete(routeModels).where(ours(routeModels, {}, isOld));
  });
