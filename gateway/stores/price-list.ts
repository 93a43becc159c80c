import type { Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { type ListChangeState, priceListChanges, priceListFetches } from "#drizzle/schema/price-list.ts";
import { newId } from "#shared/ids.ts";
import type { Directory } from "../directory.ts";
import { canonical, type ListDiff } from "../pricing/list-diff.ts";
import type { Reader } from "./change.ts";
import { keyedRows } from "./rows.ts";

export type ListChangeRow = typeof priceListChanges.$inferSelect;

/** What applies beside the built-in list. */
export async function loadListed(reader: Reader): Promise<Directory["listed"]> {
  const apply = ours(priceListChanges, { state: ["new", "approved"] });
  const rows = await reader.select().from(priceListChanges).where(apply);
  return rows.map(({ provider, entry, effectiveFrom }) => ({
    provider,
    entry,
    fromMs: effectiveFrom === null ? null : Date.parse(effectiveFrom),
  }));
}

const lastFetch = (reader: Reader) =>
  first(reader.select().from(priceListFetches).where(ours(priceListFetches)));

/** When the public list was fetched last; null: never. */
export const lastFetchedAt = async (reader: Reader) => (await lastFetch(reader))?.fetchedAt ?? null;

/** Notes what a fetched list has: new models apply, prices wait for approval. Returns the models and how many wait. */
export async function noteDiff(
  tx: Transaction,
  { changes: diff, missing }: { changes: readonly ListDiff[]; missing: string[] },
  now: Date,
): Promise<{ added: ListDiff[]; waiting: number }> {
  const seenAt = now.toISOString();
  const known = await tx.select().from(priceListChanges).where(ours(priceListChanges));
  const fresh = diff.filter(({ provider, entry, before }) => {
    const same = known.filter((row) => row.provider === provider && row.model === entry.id);
    const seen = before === null ? same.filter(({ state }) => state === "new") : same.filter(isUndecided);
    return !seen.some((row) => canonical(row.entry) === canonical(entry));
  });
  const changed = fresh.filter(({ before }) => before !== null);
  for (const { provider, entry } of changed) {
    // An older price that waits still is no longer offered.
    const isOlder = ours(priceListChanges, { provider, model: entry.id, state: "waiting" });
    await tx.delete(priceListChanges).where(isOlder);
  }
  if (fresh.length > 0) {
    await tx.insert(priceListChanges).values(
      fresh.map(({ provider, entry, before }) => ({
        id: newId(),
        provider,
        model: entry.id,
        entry,
        before,
        seenAt,
        state: before === null ? ("new" as const) : ("waiting" as const),
      })),
    );
  }
  const fetched = { fetchedAt: seenAt, missing };
  await tx
    .insert(priceListFetches)
    .values(fetched)
    .onConflictDoUpdate({ target: priceListFetches.orgId, set: fetched });
  return { added: fresh.filter(({ before }) => before === null), waiting: changed.length };
}

const isUndecided = ({ state }: ListChangeRow): boolean => state === "waiting" || state === "dismissed";

/** Models of the current list that the list that was fetched last does not have. */
export const missingModels = async (reader: Reader): Promise<string[]> =>
  (await lastFetch(reader))?.missing ?? [];

/** Newest first; at most 1,000. */
export const listChanges = (reader: Reader): Promise<ListChangeRow[]> =>
  keyedRows(priceListChanges, "id", true).list(reader, { after: null, limit: 1000 });

/** Decides about a change that waits. Null: unknown id. */
export function decideChange(
  tx: Transaction,
  id: string,
  decision: { state: ListChangeState; effectiveFrom: string | null; actor: string; decidedAt: string },
): Promise<ListChangeRow | null> {
  const waits = ours(priceListChanges, { id, decidedAt: null, state: "waiting" });
  return first(tx.update(priceListChanges).set(decision).where(waits).returning());
}
