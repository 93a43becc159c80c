import type { Spec } from "#shared/report.ts";
import { changedColumns, json, label, orgTable } from "./columns.ts";

/** Reports that administrators keep beside the built-in ones. */
export const savedReports = orgTable("saved_reports", {
  id: label("id").notNull(),
  title: label("title").notNull(),
  description: label("description").notNull(),
  /** The manager who saved it, and their team then; null: an administrator's. */
  owner: label("owner"),
  team: label("team"),
  spec: json<Spec>("spec").notNull(),
  ...changedColumns,
}).keyedBy(["id"]);
