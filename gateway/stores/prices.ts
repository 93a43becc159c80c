import { and, eq } from "drizzle-orm";
import { prices } from "#drizzle/schema/prices.ts";
import { providers } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import { idRows } from "./id-rows.ts";

export type PriceOverrideRow = typeof prices.$inferSelect;
export type PriceFields = Omit<PriceOverrideRow, "orgId" | "id" | "createdAt">;

export const PRICES = idRows(prices);

/** A mistyped name would make a price that never applies. @throws GatewayError conflict */
export async function requireProvider(reader: Reader, name: string | null): Promise<void> {
  if (name === null) return;
  const found = await reader
    .select({ name: providers.name })
    .from(providers)
    .where(and(eq(providers.orgId, DEFAULT_ORG), eq(providers.name, name)));
  if (found.length === 0) {
    throw new GatewayError("conflict", `/provider: No provider is named ${name}.`);
  }
}
