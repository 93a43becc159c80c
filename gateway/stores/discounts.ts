import { ours } from "#drizzle/ours.ts";
import { discounts } from "#drizzle/schema/prices.ts";
import type { Discount } from "../directory.ts";
import type { Reader } from "./change.ts";
import { idRows } from "./rows.ts";

export type DiscountRow = typeof discounts.$inferSelect;
export type DiscountFields = Omit<DiscountRow, "orgId" | "id" | "createdAt">;

export const DISCOUNTS = idRows(discounts);

/** All of them, as prices apply them. */
export async function loadDiscounts(reader: Reader): Promise<Discount[]> {
  const rows = await reader.select().from(discounts).where(ours(discounts));
  return rows.map(({ orgId: _, createdAt: __, effectiveFrom, effectiveTo, ...discount }) => ({
    ...discount,
    fromMs: Date.parse(effectiveFrom),
    toMs: effectiveTo === null ? null : Date.parse(effectiveTo),
  }));
}
