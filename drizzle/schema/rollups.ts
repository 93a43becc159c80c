import { sql } from "drizzle-orm";
import { bigint, date, index, integer, pgTable, primaryKey, smallint, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, labels, org } from "./columns.ts";
import type { Channel } from "./records.ts";

/** Columns `h0` to `h75`: how many calls' latency fell into each bucket; null is none, which takes no space. */
export const BUCKETS = 76;

const histogram = () =>
  Object.fromEntries(Array.from({ length: BUCKETS }, (_, i) => [`h${i}`, integer(`h${i}`)]));

const count = (name: string) => integer(name).notNull();
const sum = (name: string) => bigint(name, { mode: "bigint" }).notNull();

/** What is summed up of a set of records. Money is null where none of its costs is known. */
const sums = () => ({
  records: count("records"),
  unpriced: count("unpriced"),
  /** Records whose cost is unknown or a lower bound. */
  uncertain: count("uncertain"),
  inputTokens: sum("input_tokens"),
  outputTokens: sum("output_tokens"),
  cachedTokens: sum("cached_tokens"),
  pricedInputTokens: sum("priced_input_tokens"),
  pricedOutputTokens: sum("priced_output_tokens"),
  costUsd: exact("cost_usd"),
  tokenCostUsd: exact("token_cost_usd"),
  latencySum: sum("latency_sum"),
  latencyCount: count("latency_count"),
  ttftSum: sum("ttft_sum"),
  ttftCount: count("ttft_count"),
  /** When the first of them began. */
  firstAt: instant("first_at").notNull(),
  ...histogram(),
});

/** Hours (UTC) in which records came or changed since they were rolled up: one row per hour and batch, never changed. */
export const rollupMarks = pgTable(
  "rollup_marks",
  { orgId: org(), hour: instant("hour").notNull(), id: uuid("id").notNull() },
  (table) => [primaryKey({ columns: [table.orgId, table.hour, table.id] })],
);

/** How far rollups reach. Whoever holds this row's lock is the one writer of all rollups. */
export const rollupState = pgTable("rollup_state", {
  orgId: org().primaryKey(),
  /** Every hour before this one is rolled up, but for those marked. */
  rolledTo: instant("rolled_to").notNull(),
  /** Single records before this hour are gone, so its hours are never made anew; null: none are gone. */
  rawFrom: instant("raw_from"),
});

/** Sums of an hour's records that agree in everything that reports tell apart. */
export const rollupHours = pgTable(
  "rollup_hours",
  {
    orgId: org(),
    hour: instant("hour").notNull(),
    /** Number within the hour. */
    cell: integer("cell").notNull(),
    day: date("day").notNull(),
    channel: label("channel").$type<Channel>().notNull(),
    client: label("client").notNull(),
    model: label("model"),
    route: label("route").notNull(),
    owner: label("owner"),
    userLabel: label("user_label"),
    keyId: uuid("key_id").notNull(),
    session: label("session"),
    tags: labels("tags").notNull(),
    ...sums(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.hour, table.cell] }),
    index("rollup_hours_session").on(table.orgId, table.session).where(sql`${table.session} is not null`),
  ],
);

/** Sums of a whole day's records by one dimension (`kind`), made of its hours. */
export const rollupDays = pgTable(
  "rollup_days",
  {
    orgId: org(),
    kind: label("kind").notNull(),
    day: date("day").notNull(),
    value: label("value").notNull(),
    channel: label("channel").$type<Channel>().notNull(),
    ...sums(),
    /** The part of `cost_usd` that belongs to sessions. */
    sessionCostUsd: exact("session_cost_usd"),
    firstSessionAt: instant("first_session_at"),
    firstTagAt: instant("first_tag_at"),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.kind, table.day, table.value, table.channel] })],
);

/**
 * Which persons were active on a whole day, by dimension and value: `who` is a hash of these and of the person. Sessions
 * are short: their hours tell it quickly enough.
 */
export const rollupSeen = pgTable(
  "rollup_seen",
  {
    orgId: org(),
    who: uuid("who").notNull(),
    day: date("day").notNull(),
    /** Bit 1: active at all; bit 2: outside the subscription lane. */
    lanes: smallint("lanes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.who, table.day] }),
    index("rollup_seen_day").using("brin", table.day).with({ pages_per_range: 32 }),
  ],
);

/**
 * How many persons or sessions were active on a day whose last active day before was `previous`: those of a span of days
 * are the sum of `n` over its days where `previous` lies before it. Active hours never have a day before.
 */
export const rollupGaps = pgTable(
  "rollup_gaps",
  {
    orgId: org(),
    entity: label("entity").$type<"person" | "session" | "hour">().notNull(),
    kind: label("kind").notNull(),
    lane: smallint("lane").notNull(),
    day: date("day").notNull(),
    value: label("value").notNull(),
    /** `-infinity`: none. */
    previous: date("previous").notNull(),
    n: integer("n").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.orgId, table.entity, table.kind, table.lane, table.day, table.value, table.previous],
    }),
  ],
);

/** Records that came after the single records of their hour had gone: their sums were added, once. */
export const rollupLate = pgTable("rollup_late", { orgId: org(), id: uuid("id").notNull() }, (table) => [
  primaryKey({ columns: [table.orgId, table.id] }),
]);
