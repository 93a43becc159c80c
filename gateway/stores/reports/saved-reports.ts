import { and, eq, inArray, or } from "drizzle-orm";
import { savedReports } from "#drizzle/schema/reports.ts";
import type { Reader } from "../change.ts";
import { keyedRows } from "../rows.ts";

export type SavedReportRow = typeof savedReports.$inferSelect;

/** The saved reports that a viewer may see: a manager's own and the team's; null: all. */
export type SavedScope = { owner: string | null; team: string } | null;

export const savedReportRows = keyedRows(savedReports, "id");

/** Condition on reports that are in the scope; undefined: all are. */
export const isVisible = (scope: SavedScope) =>
  scope === null
    ? undefined
    : or(
        eq(savedReports.team, scope.team),
        scope.owner === null ? undefined : eq(savedReports.owner, scope.owner),
      );

export const findSavedReports = (
  reader: Reader,
  ids: readonly string[],
  scope: SavedScope,
): Promise<SavedReportRow[]> =>
  savedReportRows.all(reader, and(inArray(savedReports.id, [...ids]), isVisible(scope)));
