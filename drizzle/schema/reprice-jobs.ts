import { boolean, integer, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, leaseColumns, org } from "./columns.ts";

/** A job that prices the unpriced records of a window, and its progress. Any gateway continues it. */
export const repriceJobs = pgTable(
  "reprice_jobs",
  {
    orgId: org(),
    id: uuid("id").notNull(),
    /** The window of records, half-open. */
    from: instant("from_at").notNull(),
    to: instant("to_at").notNull(),
    dryRun: boolean("dry_run").notNull(),
    createdAt: instant("created_at").notNull(),
    /** Who asked for it, for the audit log. */
    actor: label("actor").notNull(),
    address: label("address"),
    requestId: label("request_id"),

    /** Before the job: unpriced records in the window, and the known cost of all. */
    unpricedRecords: integer("unpriced_records").notNull(),
    oldCostUsd: exact("old_cost_usd").notNull(),

    /** So far. */
    checkedRecords: integer("checked_records").notNull().default(0),
    repricedRecords: integer("repriced_records").notNull().default(0),
    addedCostUsd: exact("added_cost_usd").notNull().default("0"),
    /** The last record that was checked; null before the first. */
    lastStartedAt: instant("last_started_at"),
    lastId: uuid("last_id"),
    finishedAt: instant("finished_at"),
    /** An administrator ended it then; it is finished, too. */
    cancelledAt: instant("cancelled_at"),
    ...leaseColumns,
  },
  (table) => [primaryKey({ columns: [table.orgId, table.id] })],
);
