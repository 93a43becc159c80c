import { bigint, boolean, date, index, integer, pgTable, uuid } from "drizzle-orm/pg-core";
import { exact, instant, orgTable } from "./columns.ts";

/**
 * Cost of a key's calls, by the UTC day of their admission, and cost of a team with the teams below it, under the
 * team's account in place of the key (`teamAccount` in gateway/stores/directory). Updated by a trigger of `requests`
 * (in the migration), in the transaction that writes the record, so that it always equals the sum of the records.
 */
export const keySpend = orgTable("key_spend", {
  keyId: uuid("key_id").notNull(),
  day: date("day").notNull(),
  usd: exact("usd").notNull(),
}).keyedBy(["keyId", "day"]);

/**
 * Running calls of keys and teams with a budget, or of keys with a limit on concurrent calls: the most that each may cost,
 * then its actual cost.
 * The trigger of `requests` removes a hold when the call's record is stored, so that no cost is counted twice.
 */
export const limitHolds = orgTable("limit_holds", {
  callId: uuid("call_id").notNull(),
  keyId: uuid("key_id").notNull(),
  /** The gateway process that has the call. */
  holder: uuid("holder").notNull(),
  /** Admission of the call: the period of the budget that it counts in. */
  startedAt: instant("started_at").notNull(),
  usd: exact("usd").notNull(),
  /** The answer has ended, and `usd` is its cost; the record is on its way. */
  ended: boolean("ended").notNull().default(false),
}).keyedBy(["callId", "keyId"], (table) => [
  // Without the organisation: a plan made while the table was small would read all that it has.
  index("limit_holds_key").on(table.keyId),
]);

/** The share of a budget that a process may spend without Postgres, and calls whose records are not stored yet. */
export const limitLeases = orgTable("limit_leases", {
  keyId: uuid("key_id").notNull(),
  holder: uuid("holder").notNull(),
  /** First day of the budget's period. */
  period: date("period").notNull(),
  usd: exact("usd").notNull(),
  /** Calls under way that were let through on the lease. */
  calls: integer("calls").notNull(),
}).keyedBy(["keyId", "holder"]);

/** Calls and tokens let through, by quarter of a second since 1970 (`slot`), for as long as they count. */
export const limitRates = orgTable("limit_rates", {
  keyId: uuid("key_id").notNull(),
  slot: bigint("slot", { mode: "number" }).notNull(),
  requests: integer("requests").notNull(),
  tokens: bigint("tokens", { mode: "number" }).notNull(),
}).keyedBy(["keyId", "slot"]);

/** Calls that a gateway process let through for a key while it could not reach Postgres, by the minute. */
export const limitAway = orgTable("limit_away", {
  keyId: uuid("key_id").notNull(),
  minute: instant("minute").notNull(),
  holder: uuid("holder").notNull(),
  requests: integer("requests").notNull(),
  tokens: bigint("tokens", { mode: "number" }).notNull(),
  /** The maximum at any one time. */
  calls: integer("calls").notNull(),
  /** Cost of the calls that have ended. */
  usd: exact("usd").notNull(),
}).keyedBy(["keyId", "minute", "holder"]);

/**
 * Counts a key's reservations: each names the count that it was based on, so that no two are based on the same one. Until
 * `alone_until`, only `holder` may make any: a process in one period of budgets.
 */
export const limitTurns = orgTable("limit_turns", {
  keyId: uuid("key_id").notNull(),
  turn: bigint("turn", { mode: "number" }).notNull(),
  holder: uuid("holder"),
  aloneUntil: instant("alone_until"),
}).keyedBy(["keyId"]);

/** The gateway processes and their last heartbeats. Holds of dead processes are freed. */
export const limitHolders = pgTable("limit_holders", {
  holder: uuid("holder").primaryKey(),
  seenAt: instant("seen_at").notNull(),
});
