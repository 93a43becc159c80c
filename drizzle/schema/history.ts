import { boolean, integer, uuid } from "drizzle-orm/pg-core";
import type { StatementBy, StatementContent } from "#shared/admin/statements.ts";
import { exact, instant, json, label, orgTable } from "./columns.ts";
import type { CostBasis } from "./records.ts";

/** What a record cost before each change of its cost; written by a trigger in the transaction of the change. */
export const recordVersions = orgTable("record_versions", {
  recordId: uuid("record_id").notNull(),
  startedAt: instant("started_at").notNull(),
  /** When it was replaced. */
  until: instant("until_at").notNull(),
  /** Who replaced it, and why: `CHANGE_REASONS`. */
  actor: label("actor").notNull(),
  reason: label("reason").$type<ChangeReason>().notNull(),
  /** The record was not there until then: it came after its month was closed. */
  absent: boolean("absent").notNull().default(false),
  costUsd: exact("cost_usd"),
  tokenCostUsd: exact("token_cost_usd"),
  costBasis: label("cost_basis").$type<CostBasis>(),
  listCostUsd: exact("list_cost_usd"),
  unpriced: boolean("unpriced").notNull(),
  partial: boolean("partial").notNull(),
  price: json<string>("price"),
}).keyedBy(["recordId", "startedAt", "until"]);

export const CHANGE_REASONS = ["repriced", "restated", "settled", "late"] as const;
export type ChangeReason = (typeof CHANGE_REASONS)[number];

/** Months (UTC) that were closed once. Costs of a closed one change only once it is open again. */
export const periods = orgTable("periods", {
  /** `2026-10`. */
  month: label("month").notNull(),
  /** Null: it is open again. */
  closedAt: instant("closed_at"),
  /** Who closed or opened it last, and when. */
  actor: label("actor").notNull(),
  changedAt: instant("changed_at").notNull(),
  /** When it was closed last: its records, and their known cost without the subscription lane. */
  records: integer("records").notNull(),
  costUsd: exact("cost_usd").notNull(),
  /** Since then: records that came late or were settled, and what they added. */
  lateRecords: integer("late_records").notNull().default(0),
  lateCostUsd: exact("late_cost_usd").notNull().default("0"),
}).keyedBy(["month"]);

/** The statements of months as they were when these were closed: by team and by cost centre, a version for each closing. */
export const statements = orgTable("statements", {
  month: label("month").notNull(),
  by: label("by").$type<StatementBy>().notNull(),
  version: integer("version").notNull(),
  closedAt: instant("closed_at").notNull(),
  actor: label("actor").notNull(),
  content: json<StatementContent>("content").notNull(),
}).keyedBy(["month", "by", "version"]);
