import { sql } from "drizzle-orm";
import { bigint, integer, pgTable, uuid } from "drizzle-orm/pg-core";
import { instant, json, label, org, orgTable } from "./columns.ts";

/**
 * New or changed rows that ClickHouse does not have yet. A trigger marks each thousand rows that a statement writes, in
 * the same transaction (decision: Marks lead to ClickHouse).
 */
export const clickhouseMarks = orgTable("clickhouse_marks", {
  id: uuid("id").notNull().defaultRandom(),
  /** The table. */
  relation: label("relation").notNull(),
  /** How many rows. */
  rows: integer("rows").notNull(),
  /** Their primary keys, without the organisation, and the hour of a tool call: objects with the names of the columns. */
  keys: json<Record<string, unknown>[]>("keys").notNull(),
  markedAt: instant("marked_at").notNull().default(sql`now()`),
}).keyedBy(["id"]);

/** Exists while rows are marked. The process that holds its row lock copies the rows. */
export const clickhouseState = pgTable("clickhouse_state", {
  orgId: org().primaryKey(),
  /** Version of the last copy. Each copy has a higher version than those before, so that the last one counts. */
  version: bigint("version", { mode: "bigint" }).notNull(),
  /** The random identity of the ClickHouse database that rows are copied to (gateway/stores/clickhouse/identity.ts). */
  databaseId: uuid("database_id"),
  /** When that one last had every row of Postgres; null: it may lack some, and reports read Postgres. */
  comparedAt: instant("compared_at"),
  /** From when on it has the sums of all records; null: those of all time. */
  sumsFrom: instant("sums_from"),
});

/**
 * How far `move-records` has come: every day (UTC) of the table before `moved_to` is copied and compared. A table whose rows
 * were all marked when copying began has its row, too, with 1970.
 */
export const clickhouseMoves = orgTable("clickhouse_moves", {
  relation: label("relation").notNull(),
  movedTo: instant("moved_to").notNull(),
}).keyedBy(["relation"]);
