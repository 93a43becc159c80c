import { and, desc, eq, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { prices } from "#drizzle/schema/prices.ts";
import { providers } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

export type PriceOverrideRow = typeof prices.$inferSelect;
export type PriceFields = Omit<PriceOverrideRow, "orgId" | "id" | "createdAt">;

const isPrice = (id: string) => and(eq(prices.orgId, DEFAULT_ORG), eq(prices.id, id));

/** Newest first, by when they were entered. */
export const listPrices = (reader: Reader, slice: Slice): Promise<PriceOverrideRow[]> =>
  reader
    .select()
    .from(prices)
    .where(and(eq(prices.orgId, DEFAULT_ORG), slice.after === null ? undefined : lt(prices.id, slice.after)))
    .orderBy(desc(prices.id))
    .limit(slice.limit);

export async function findPrice(reader: Reader, id: string): Promise<PriceOverrideRow | null> {
  const [row] = await reader.select().from(prices).where(isPrice(id));
  return row ?? null;
}

/** @throws GatewayError conflict when it names a provider that does not exist. */
export async function insertPrice(tx: Transaction, facts: PriceFields, now: Date): Promise<string> {
  await requireProvider(tx, facts.provider);
  const id = newId();
  await tx.insert(prices).values({ ...facts, id, createdAt: now.toISOString() });
  return id;
}

/** Changes what later calls cost; records keep the prices that they were priced with. */
export async function updatePrice(tx: Transaction, id: string, facts: PriceFields): Promise<void> {
  await requireProvider(tx, facts.provider);
  await tx.update(prices).set(facts).where(isPrice(id));
}

export const deletePrice = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.delete(prices).where(isPrice(id)).returning()).length > 0;

/** A mistyped name would make a price that never applies. */
export async function requireProvider(tx: Reader, name: string | null): Promise<void> {
  if (name === null) return;
  const found = await tx
    .select({ name: providers.name })
    .from(providers)
    .where(and(eq(providers.orgId, DEFAULT_ORG), eq(providers.name, name)));
  if (found.length === 0) {
    throw new GatewayError("conflict", `/provider: No provider is named ${name}.`);
  }
}
