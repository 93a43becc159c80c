import { sql } from "drizzle-orm";
import { boolean, integer, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, labels, leaseColumns, orgTable } from "./columns.ts";

/** `reprice`: records without a price get one. `restate`: all get the prices now known for their day. */
export type RepriceKind = "reprice" | "restate";

/** A job that prices records of a window again, and its progress. Any gateway continues it. */
export const repriceJobs = orgTable("reprice_jobs", {
  id: uuid("id").notNull(),
  /** The window of records, half-open. */
  from: instant("from_at").notNull(),
  to: instant("to_at").notNull(),
  kind: label("kind").$type<RepriceKind>().notNull().default("reprice"),
  /** Only records of this provider, and of this model, asked for or answering; null: of all. */
  provider: label("provider"),
  model: label("model"),
  dryRun: boolean("dry_run").notNull(),
  createdAt: instant("created_at").notNull(),
  /** Who asked for it, for the audit log. */
  actor: label("actor").notNull(),
  address: label("address"),
  requestId: label("request_id"),

  /** Before the job: records to look at, and the known cost of all. */
  records: integer("unpriced_records").notNull(),
  oldCostUsd: exact("old_cost_usd").notNull(),

  /** So far. */
  checkedRecords: integer("checked_records").notNull().default(0),
  repricedRecords: integer("repriced_records").notNull().default(0),
  /** What cannot be priced from the stored counts. */
  leftRecords: integer("left_records").notNull().default(0),
  addedCostUsd: exact("added_cost_usd").notNull().default("0"),
  /** Months of the window that are closed, and left out. */
  closedMonths: labels("closed_months").notNull().default([]),
  /** The last record that was checked, in the order of ids; null before the first. */
  lastStartedAt: instant("last_started_at"),
  lastId: uuid("last_id"),
  finishedAt: instant("finished_at"),
  /** An administrator ended it then; it is finished, too. */
  cancelledAt: instant("cancelled_at"),
  ...leaseColumns,
}).keyedBy(["id"]);

/** What a job of restatement changes, by month, team and model. */
export const repriceDifferences = orgTable("reprice_differences", {
  jobId: uuid("job_id").notNull(),
  /** `2026-10`. */
  month: label("month").notNull(),
  /** Empty: none. */
  team: label("team").notNull(),
  model: label("model").notNull(),
  records: integer("records").notNull(),
  /** Known costs of these records; what is unknown counts as nothing. */
  oldCostUsd: exact("old_cost_usd").notNull(),
  newCostUsd: exact("new_cost_usd").notNull(),
  notedAt: instant("noted_at").notNull().default(sql`now()`),
}).keyedBy(["jobId", "month", "team", "model"]);
