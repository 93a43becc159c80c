import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  uuid,
} from "drizzle-orm/pg-core";
import { bytes, exact, instant, label, labels, org } from "./columns.ts";
import type { Channel } from "./records.ts";

// The server finds columns of fixed width at once, the others by going over all before them: so those stand first.

const count = (name: string) => integer(name).notNull();
const sum = (name: string) => bigint(name, { mode: "bigint" }).notNull();

/** What is counted of a set of records. */
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

/** What else is summed up of them. Money is null where none of its costs is known. */
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
 * changed. Whoever reads them means the whole hour, as earlier versions wrote it.
 */
export const rollupMarks = pgTable(
  "rollup_marks",
  { orgId: org(), hour: instant("hour").notNull(), id: uuid("id").notNull() },
  (table) => [primaryKey({ columns: [table.orgId, table.hour, table.id] })],
);

/** How far rollups reach. Whoever holds this row's lock is the one writer of all rollups. */
export const rollupState = pgTable("rollup_state", {
  orgId: org().primaryKey(),
  /** Every hour before this instant is rolled up, and of the hour that it lies in the quarters before it, but for those marked. */
  rolledTo: instant("rolled_to").notNull(),
  /** What is made of the hours reaches so far: at most as far as they do, and less only after an update of the tables. */
  summedTo: instant("summed_to").notNull().default("0001-01-01T00:00:00.000Z"),
  /** Single records before this hour are gone, so its hours are never made anew; null: none are gone. */
  rawFrom: instant("raw_from"),
  /** Weeks before this Monday are summed up. A day of theirs that is summed up again changes them at once. */
  weeksTo: date("weeks_to").notNull().default("0001-01-01"),
});

/**
 * What reports tell apart, but for model and route, which change within a session. Of cells and sessions the server keeps
 * statistics of owner and label together (migration 0024), for which drizzle has no words.
 */
const keys = () => ({
  orgId: org(),
  channel: label("channel").$type<Channel>().notNull(),
  client: label("client").notNull(),
  owner: label("owner"),
  userLabel: label("user_label"),
  session: label("session"),
  tags: labels("tags").notNull(),
});
const fine = () => ({ model: label("model"), route: label("route").notNull() });

/** Sums of an hour's records that agree in everything that reports tell apart. */
export const rollupHours = pgTable(
  "rollup_hours",
  {
    hour: instant("hour").notNull(),
    day: date("day").notNull(),
    /** Number within the hour. */
    cell: integer("cell").notNull(),
    keyId: uuid("key_id").notNull(),
    ...counts(),
    ...keys(),
    ...fine(),
    ...exactSums(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.hour, table.cell] }),
    index("rollup_hours_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
  ],
);

const ofDay = () => ({
  day: date("day").notNull(),
  /** Number within the day. */
  cell: integer("cell").notNull(),
  /** In which hours of the day it was active: bit 0 is the first. */
  hours: integer("hours").notNull(),
  keyId: uuid("key_id").notNull(),
});

/** The same of a day's hours. */
export const rollupCells = pgTable(
  "rollup_cells",
  {
    ...ofDay(),
    /**
     * At one of the cells that are told apart by nothing but the route, the hours of all of them, and 0 at the others. So
     * each session of the day counts once with each model.
     */
    ofModel: integer("of_model").notNull(),
    /** The same at one of those that are told apart by nothing but the model. */
    ofRoute: integer("of_route").notNull(),
    ...counts(),
    ...keys(),
    ...fine(),
    ...exactSums(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.day, table.cell] }),
    index("rollup_cells_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
    index("rollup_cells_no_session").on(table.orgId, table.day).where(sql`${table.session} is null`),
  ],
);

/** The same whatever the model and the route: about one row for a session and a day. */
export const rollupSessions = pgTable(
  "rollup_sessions",
  {
    ...ofDay(),
    ...counts(),
    ...keys(),
    ...exactSums(),
    /** Whether its session had other rows when it was made: of each two of a session, at least one tells. */
    several: boolean("several").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.day, table.cell] }),
    index("rollup_sessions_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
    index("rollup_sessions_no_session").on(table.orgId, table.day).where(sql`${table.session} is null`),
    index("rollup_sessions_several").on(table.orgId, table.day).where(sql`${table.several}`),
  ],
);

/** One value of a dimension (`kind`) in one channel. */
const group = () => ({
  orgId: org(),
  kind: label("kind").notNull(),
  value: label("value").notNull(),
  channel: label("channel").$type<Channel>().notNull(),
  ...exactSums(),
  /** The part of `cost_usd` that belongs to sessions. */
  sessionCostUsd: exact("session_cost_usd"),
});

/** Sums by one dimension, made of hours. */
const byOne = () => ({
  ...counts(),
  /** Pairs of a session and an hour, of all channels together: it stands with one of them. */
  activeHours: count("active_hours"),
  /** The same outside the subscription lane. */
  billedHours: count("billed_hours"),
  ...group(),
  firstSessionAt: instant("first_session_at"),
  firstTagAt: instant("first_tag_at"),
});

/** Sums of an hour's records by one dimension: a window may end with any hour. */
export const rollupHourly = pgTable(
  "rollup_hourly",
  { hour: instant("hour").notNull(), ...byOne() },
  (table) => [primaryKey({ columns: [table.orgId, table.kind, table.hour, table.value, table.channel] })],
);

/**
 * Sums of a quarter of an hour's records by a dimension of few values: a window may cut its last hour. Made with its hour;
 * they count only while they add up to what is told of the hour.
 */
export const rollupQuarters = pgTable(
  "rollup_quarters",
  { at: instant("at").notNull(), ...counts(), ...group() },
  (table) => [primaryKey({ columns: [table.orgId, table.kind, table.at, table.value, table.channel] })],
);

/** Sums of a whole day's records by one dimension. */
export const rollupDays = pgTable("rollup_days", { day: date("day").notNull(), ...byOne() }, (table) => [
  primaryKey({ columns: [table.orgId, table.kind, table.day, table.value, table.channel] }),
]);

/** The same of a whole week, which begins on the Monday `week`. */
export const rollupWeeks = pgTable("rollup_weeks", { week: date("week").notNull(), ...byOne() }, (table) => [
  primaryKey({ columns: [table.orgId, table.kind, table.week, table.value, table.channel] }),
]);

/**
 * On which days of a month persons were active, by dimension and value: `who` is a hash of these and of the person. Of
 * sessions the days' cells tell it quickly enough.
 */
export const rollupSeen = pgTable(
  "rollup_seen",
  {
    orgId: org(),
    who: uuid("who").notNull(),
    /** Its first day. */
    month: date("month").notNull(),
    /** Bit 0 is the first day. */
    days: integer("days").notNull(),
    /** Those outside the subscription lane. */
    billedDays: integer("billed_days").notNull(),
    /** The first hour of each of 31 days, a byte each, 0 to 23; 255: none. */
    hours: bytes("hours").notNull(),
    /** The same outside the subscription lane. */
    billedHours: bytes("billed_hours").notNull(),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.who, table.month] })],
);

const gap = () => ({
  orgId: org(),
  entity: label("entity").$type<"person" | "session">().notNull(),
  kind: label("kind").notNull(),
  lane: smallint("lane").notNull(),
  value: label("value").notNull(),
  /** `-infinity`: none. */
  previous: date("previous").notNull(),
});

/**
 * How many persons or sessions were active on a day whose last active day before was `previous`: those of a span of days
 * are the sum of `n` over its days where `previous` lies before it.
 */
export const rollupGaps = pgTable(
  "rollup_gaps",
  {
    ...gap(),
    day: date("day").notNull(),
    n: integer("n").notNull(),
    /**
     * When each of them was active first, in milliseconds of the day, ascending: a window may end at any instant. Not known
     * where these are not `n`.
     */
    firsts: integer("firsts").array(),
  },
  (table) => [
    primaryKey({
      columns: [table.orgId, table.entity, table.kind, table.lane, table.day, table.value, table.previous],
    }),
  ],
);

/** The same by week, of those only who were not active before in the same week. */
export const rollupGapWeeks = pgTable(
  "rollup_gap_weeks",
  { ...gap(), week: date("week").notNull(), n: integer("n").notNull() },
  (table) => [
    primaryKey({
      columns: [table.orgId, table.entity, table.kind, table.lane, table.week, table.value, table.previous],
    }),
  ],
);

/** Records that came after the single records of their hour had gone: their sums were added, once. */
export const rollupLate = pgTable("rollup_late", { orgId: org(), id: uuid("id").notNull() }, (table) => [
  primaryKey({ columns: [table.orgId, table.id] }),
]);
