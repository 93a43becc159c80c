import { bigint, boolean, date, index, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { words } from "#shared/words.ts";
import { bytes, callerColumns, exact, instant, json, label, orgTable } from "./columns.ts";
import type { PriceSnapshot } from "./records.ts";

/**
 * What a point measures. Token kinds that count as input: `input`, `cache_read`, `cache_write`. `cached_input` and
 * `written_input` are parts of an `input`, `reasoning` is part of an `output`, `total` is their sum: these four are not
 * added to totals.
 */
export const POINT_KINDS = words(
  "input cache_read cache_write cached_input written_input output reasoning total operations reported_cost",
  "sessions active_time",
);
export type PointKind = (typeof POINT_KINDS)[number];

/** Points of metrics that agents export. No column can contain text of a prompt or an answer. */
export const agentPoints = orgTable("agent_points", {
  /** SHA-256 over key, attributes, metric, start and end: a point that is resent maps to the same row. */
  hash: bytes("hash").notNull(),
  keyId: uuid("key_id").notNull(),
  ...callerColumns,
  session: label("session"),
  client: label("client").notNull(),

  metric: label("metric").notNull(),
  kind: label("kind").$type<PointKind>().notNull(),
  tokens: bigint("tokens", { mode: "number" }),
  /** Operations whose duration the point sums up. */
  operations: bigint("operations", { mode: "number" }),
  durationSeconds: exact("duration_seconds"),
  /** The agent's own figures: USD, sessions, seconds of activity. Reports do not use them. */
  reported: exact("reported"),

  model: label("model"),
  responseModel: label("response_model"),
  system: label("system"),
  provider: label("provider"),
  operation: label("operation"),
  agent: label("agent"),
  serverAddress: label("server_address"),
  serverPort: label("server_port"),
  errorType: label("error_type"),
  sdkName: label("sdk_name"),
  sdkLanguage: label("sdk_language"),
  sdkVersion: label("sdk_version"),

  /** List-price cost of the tokens, exact USD; null when unknown, and for points without tokens. */
  costUsd: exact("cost_usd"),
  /** Whether charged tokens have no known price. */
  unpriced: boolean("unpriced").notNull(),
  price: json<PriceSnapshot>("price"),

  startedAt: instant("started_at"),
  /** The point's own time, which reports use. */
  endedAt: instant("ended_at").notNull(),
  receivedAt: instant("received_at").notNull(),
}).keyedBy(["hash"], (table) => [index("agent_points_ended_at").on(table.orgId, table.endedAt)]);

/** Whether a point's cost is a lower bound: Claude Code does not report how long its cache writes last. */
export const isUncertainPoint = (row: string): string =>
  `(${row}.unpriced or (${row}.kind = 'cache_write' and ${row}.tokens > 0))`;

export type AgentPointRow = Omit<typeof agentPoints.$inferInsert, "orgId" | "hash"> & {
  /** Lower-case hexadecimal. */
  hash: string;
};

/** Names of attributes and metrics that were not stored, at most 1,000 for a key and day (UTC). Never a value. */
export const droppedNames = orgTable("dropped_names", {
  keyId: uuid("key_id").notNull(),
  day: date("day").notNull(),
  kind: label("kind").$type<"attribute" | "metric">().notNull(),
  name: label("name").notNull(),
  id: uuid("id").notNull(),
  firstAt: instant("first_at").notNull(),
}).keyedBy(["keyId", "day", "kind", "name"], (table) => [
  uniqueIndex("dropped_names_id").on(table.orgId, table.id),
]);
