import { and, eq, gt, inArray, or } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { savedReports } from "#drizzle/schema/reports.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import type { Slice } from "../slice.ts";

export type SavedReportRow = typeof savedReports.$inferSelect;

/** The saved reports that a viewer may see: a manager's own and the team's; null: all. */
export type SavedScope = { owner: string | null; team: string } | null;

const isVisible = (scope: SavedScope) =>
  scope === null
    ? undefined
    : or(
        eq(savedReports.team, scope.team),
        scope.owner === null ? undefined : eq(savedReports.owner, scope.owner),
      );

const isReport = (id: string) => and(eq(savedReports.orgId, DEFAULT_ORG), eq(savedReports.id, id));

export const listSavedReports = (
  reader: Reader,
  { after, limit }: Slice,
  scope: SavedScope,
): Promise<SavedReportRow[]> =>
  reader
    .select()
    .from(savedReports)
    .where(
      and(
        eq(savedReports.orgId, DEFAULT_ORG),
        after === null ? undefined : gt(savedReports.id, after),
        isVisible(scope),
      ),
    )
    .orderBy(savedReports.id)
    .limit(limit);

export async function findSavedReport(
  reader: Reader,
  id: string,
  scope: SavedScope,
): Promise<SavedReportRow | null> {
  const [row] = await reader
    .select()
    .from(savedReports)
    .where(and(isReport(id), isVisible(scope)));
  return row ?? null;
}

/** The saved ones among `ids`, by id. */
export const findSavedReports = (
  reader: Reader,
  ids: readonly string[],
  scope: SavedScope,
): Promise<SavedReportRow[]> =>
  reader
    .select()
    .from(savedReports)
    .where(and(eq(savedReports.orgId, DEFAULT_ORG), inArray(savedReports.id, [...ids]), isVisible(scope)))
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
