import { prices } from "#drizzle/schema/prices.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import { providerRows } from "./providers.ts";
import { idRows } from "./rows.ts";

export type PriceOverrideRow = typeof prices.$inferSelect;
export type PriceFields = Omit<PriceOverrideRow, "orgId" | "id" | "createdAt">;

export const PRICES = idRows(prices);

/** A mistyped name would make a price that never applies. @throws GatewayError conflict */
export async function requireProvider(reader: Reader, name: string | null): Promise<void> {
  if (name !== null && !(await providerRows.find(reader, name))) {
    throw new GatewayError("conflict", `/provider: No provider is named ${name}.`);
  }
}
