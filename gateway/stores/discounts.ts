import { and, desc, eq, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { discounts } from "#drizzle/schema/prices.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Discount } from "../directory.ts";
import type { Reader } from "./change.ts";
import { requireProvider } from "./prices.ts";
import type { Slice } from "./slice.ts";

export type DiscountRow = typeof discounts.$inferSelect;
export type DiscountFields = Omit<DiscountRow, "orgId" | "id" | "createdAt">;

const isDiscount = (id: string) => and(eq(discounts.orgId, DEFAULT_ORG), eq(discounts.id, id));

/** Newest first, by when they were entered. */
export const listDiscounts = (reader: Reader, { after, limit }: Slice): Promise<DiscountRow[]> =>
  reader
    .select()
    .from(discounts)
    .where(and(eq(discounts.orgId, DEFAULT_ORG), after === null ? undefined : lt(discounts.id, after)))
    .orderBy(desc(discounts.id))
    .limit(limit);

export async function findDiscount(reader: Reader, id: string): Promise<DiscountRow | null> {
  const [row] = await reader.select().from(discounts).where(isDiscount(id));
  return row ?? null;
}

/** @throws GatewayError conflict when it names a provider that does not exist. */
export async function insertDiscount(tx: Transaction, facts: DiscountFields, now: Date): Promise<string> {
  await requireProvider(tx, facts.provider);
  const id = newId();
  await tx.insert(discounts).values({ ...facts, id, createdAt: now.toISOString() });
  return id;
}

/** Changes what later calls cost; records keep the prices that they were priced with. */
export async function updateDiscount(tx: Transaction, id: string, facts: DiscountFields): Promise<void> {
  await requireProvider(tx, facts.provider);
  await tx.update(discounts).set(facts).where(isDiscount(id));
}

export const deleteDiscount = (tx: Transaction, id: string) => tx.delete(discounts).where(isDiscount(id));

/** All of them, as prices apply them. */
export async function loadDiscounts(reader: Reader): Promise<Discount[]> {
  const rows = await reader.select().from(discounts).where(eq(discounts.orgId, DEFAULT_ORG));
  return rows.map(({ orgId: _, createdAt: __, effectiveFrom, effectiveTo, ...discount }) => ({
    ...discount,
    fromMs: Date.parse(effectiveFrom),
    toMs: effectiveTo === null ? null : Date.parse(effectiveTo),
  }));
}
