import { sql } from "drizzle-orm";
import { bigint, boolean, date, index, integer, pgTable, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bits, callerColumns, exact, instant, label, labels, org, orgTable } from "./columns.ts";
import type { Channel } from "./records.ts";

// The server finds fixed-width columns directly, but has to scan past all others: so fixed-width ones come first.

const count = (name: string) => integer(name).notNull();
const sum = (name: string) => bigint(name, { mode: "bigint" }).notNull();

const counts = () => ({
  records: count("records"),
  unpriced: count("unpriced"),
  /** Records whose cost is unknown or a lower bound. */
  uncertain: count("uncertain"),
  latencyCount: count("latency_count"),
  ttftCount: count("ttft_count"),
  inputTokens: sum("input_tokens"),
  outputTokens: sum("output_tokens"),
  cachedTokens: sum("cached_tokens"),
  pricedInputTokens: sum("priced_input_tokens"),
  pricedOutputTokens: sum("priced_output_tokens"),
  latencySum: sum("latency_sum"),
  ttftSum: sum("ttft_sum"),
  /** When the first of them began. */
  firstAt: instant("first_at").notNull(),
});

/** Their other sums. Money is null if no cost is known. */
const exactSums = () => ({
  costUsd: exact("cost_usd"),
  tokenCostUsd: exact("token_cost_usd"),
  /**
   * The histogram of their latencies as one number, so that sums of it are those of the histograms: twelve decimals for
   * each bucket, those of the lowest first. Null where no latency is known.
   */
  latencies: exact("latencies"),
});

/**
 * Quarters of hours (UTC) in which records came or changed since they were rolled up: one row per quarter and batch, never
 * changed. Readers treat the whole hour as marked.
 */
export const rollupMarks = orgTable("rollup_marks", {
  hour: instant("hour").notNull(),
  id: uuid("id").notNull(),
}).keyedBy(["hour", "id"]);

/** How far rollups reach. The holder of this row's lock is the only writer of all rollups. */
export const rollupState = pgTable("rollup_state", {
  orgId: org().primaryKey(),
  /** All hours before this instant are rolled up, and the quarters before it in its own hour, except marked ones. */
  rolledTo: instant("rolled_to").notNull(),
  /** Single records before this hour are dropped, so its sums are never rebuilt; null: nothing is dropped. */
  rawFrom: instant("raw_from"),
  /** Cells and sums of hours are kept from here on, because older ones are seldom asked for; null: of all. */
  hoursFrom: instant("hours_from"),
  /** Cells of all hours before this are kept as well, of months that are dropped or will be; null: of dropped ones. */
  hoursTo: instant("hours_to"),
  /** ClickHouse has the sums that reports read: here those of all dimensions end before this day; null: they do not end. */
  sumsTo: instant("sums_to"),
});

/** Dimensions of reports, except model and route, which change within a session. */
const keys = () => ({
  orgId: org(),
  channel: label("channel").$type<Channel>().notNull(),
  client: label("client").notNull(),
  ...callerColumns,
  session: label("session"),
  tags: labels("tags").notNull(),
});

/** Cells of hours: sums of an hour's records that agree in all dimensions of reports. Source of all other sums. */
export const rollupHours = pgTable(
  "rollup_hours",
  {
    hour: instant("hour").notNull(),
    day: date("day").notNull(),
    keyId: uuid("key_id").notNull(),
    /** The cell's only record, if it arrived after the single records of its hour were dropped: it is added once. */
    late: uuid("late"),
    ...counts(),
    ...keys(),
    model: label("model"),
    route: label("route").notNull(),
    ...exactSums(),
  },
  (table) => [
    index("rollup_hours_hour").on(table.orgId, table.hour),
    index("rollup_hours_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
  ],
);

/** Cells of days, whatever the model and the route: about one row for a session and a day. */
export const rollupSessions = pgTable(
  "rollup_sessions",
  {
    day: date("day").notNull(),
    /** In which hours of the day it was active: bit 0 is the first. */
    hours: integer("hours").notNull(),
    /** Whether its session is known from another day, too. It may have left that since. */
    again: boolean("again").notNull().default(false),
    keyId: uuid("key_id").notNull(),
    ...counts(),
    ...keys(),
    ...exactSums(),
  },
  (table) => [
    index("rollup_sessions_day").on(table.orgId, table.day),
    index("rollup_sessions_again").on(table.orgId, table.day).where(sql`${table.again}`),
    index("rollup_sessions_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
  ],
);

/** Sums of an hour's or of a whole day's records by one dimension: by one value of it (`kind`) in one channel and `scope`. */
export const rollupSums = pgTable(
  "rollup_sums",
  {
    /** The start of the hour or of the day (UTC). */
    at: instant("at").notNull(),
    ...counts(),
    /** Pairs of a session and an hour, of all channels together: one of them has it, the others have 0. */
    activeHours: count("active_hours"),
    /** The same outside the subscription lane. */
    billedHours: count("billed_hours"),
    /** Sessions that were active on a day, likewise; of an hour, those that were not in an earlier one of the day. */
    sessions: count("sessions"),
    billedSessions: count("billed_sessions"),
    orgId: org(),
    grain: label("grain").$type<"hour" | "day">().notNull(),
    kind: label("kind").notNull(),
    /** A team: these are its records and those of teams below it. Empty: all records. Hours have none by team. */
    scope: label("scope").notNull().default(""),
    value: label("value").notNull(),
    channel: label("channel").$type<Channel>().notNull(),
    ...exactSums(),
    /** The part of `cost_usd` that belongs to sessions. */
    sessionCostUsd: exact("session_cost_usd"),
    /** Of all in all alone, as the next one. */
    firstSessionAt: instant("first_session_at"),
    firstTagAt: instant("first_tag_at"),
    /** Who made them, as numbers of `rollup_people`; null: no person did, or persons are not counted by this dimension. */
    people: bits("people"),
  },
  // Rows with the same words share an entry; a number in each, as a primary key needs, would take ten times the room.
  (table) => [index("rollup_sums_at").on(table.orgId, table.kind, table.scope, table.grain, table.at)],
);

/** Persons by number, from 0, as sums have sets of them. */
export const rollupPeople = orgTable("rollup_people", {
  n: integer("n").notNull(),
  person: label("person").notNull(),
}).keyedBy(["person"], (table) => [uniqueIndex("rollup_people_n").on(table.orgId, table.n)]);
