import { and, eq, gt, inArray } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { savedReports } from "#drizzle/schema/reports.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import type { Slice } from "../slice.ts";

export type SavedReportRow = typeof savedReports.$inferSelect;

const isReport = (id: string) => and(eq(savedReports.orgId, DEFAULT_ORG), eq(savedReports.id, id));

export const listSavedReports = (reader: Reader, { after, limit }: Slice): Promise<SavedReportRow[]> =>
  reader
    .select()
    .from(savedReports)
    .where(and(eq(savedReports.orgId, DEFAULT_ORG), after === null ? undefined : gt(savedReports.id, after)))
    .orderBy(savedReports.id)
    .limit(limit);

export async function findSavedReport(reader: Reader, id: string): Promise<SavedReportRow | null> {
  const [row] = await reader.select().from(savedReports).where(isReport(id));
  return row ?? null;
}

/** The saved ones among `ids`, by id. */
export const findSavedReports = (reader: Reader, ids: readonly string[]): Promise<SavedReportRow[]> =>
  reader
    .select()
    .from(savedReports)
    .where(and(eq(savedReports.orgId, DEFAULT_ORG), inArray(savedReports.id, [...ids])))
    .orderBy(savedReports.id);

export async function writeSavedReport(tx: Transaction, row: SavedReportRow): Promise<void> {
  await tx
    .insert(savedReports)
    .values(row)
    .onConflictDoUpdate({ target: [savedReports.orgId, savedReports.id], set: row });
}

/** The report that is gone; null if there was none. */
export async function deleteSavedReport(tx: Transaction, id: string): Promise<SavedReportRow | null> {
  const [gone] = await tx.delete(savedReports).where(isReport(id)).returning();
  return gone ?? null;
}
