import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, uuid } from "drizzle-orm/pg-core";
import { callerColumns, exact, instant, json, label, labels, orgTable } from "./columns.ts";
import type { CostBasis } from "./records.ts";

/** Files that a key uploaded or its batches made: their owner, without content. Ids are the provider's own. */
export const files = orgTable("files", {
  id: label("id").notNull(),
  keyId: uuid("key_id").notNull(),
  provider: label("provider").notNull(),
  purpose: label("purpose").notNull(),
  filename: label("filename"),
  bytes: bigint("bytes", { mode: "number" }),
  status: label("status"),
  createdAt: instant("created_at").notNull(),
  expiresAt: instant("expires_at"),
  deletedAt: instant("deleted_at"),
  /** Of an input file: the requests in its lines. */
  endpoint: label("endpoint"),
  routes: labels("routes").notNull(),
  models: labels("models").notNull(),
  /** Some lines name models that no route pairs. */
  direct: boolean("direct").notNull().default(false),
  /** Exact decimal, USD: the most that its requests may cost together; null: not computed, as its key had no budget. */
  boundUsd: exact("bound_usd"),
  /** Some of its requests are for models without a price. */
  unpriced: boolean("unpriced").notNull().default(false),
}).keyedBy(["id"], (table) => [index("files_key").on(table.orgId, table.keyId, table.createdAt, table.id)]);

/** Which vendor's batches they are: OpenAI's files of lines, or Anthropic's message batches. */
export const BATCH_KINDS = ["lines", "messages"] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];

/** Counts and times that a provider reports for a batch, under the provider's names. */
export type BatchFacts = Record<string, number | string | null | Record<string, number>>;

/**
 * Batches that a key created: their owner, the labels of the creating call, and whether their cost is recorded yet.
 * `record_id` and `started_at` are those of the record in `requests`, fixed at creation, so that a batch is
 * recorded once, however often it is reconciled.
 */
export const batches = orgTable("batches", {
  id: label("id").notNull(),
  kind: label("kind").$type<BatchKind>().notNull(),
  keyId: uuid("key_id").notNull(),
  provider: label("provider").notNull(),
  endpoint: label("endpoint").notNull(),
  inputFileId: label("input_file_id"),
  outputFileId: label("output_file_id"),
  errorFileId: label("error_file_id"),
  completionWindow: label("completion_window").notNull(),
  /** The provider's word for it. */
  status: label("status").notNull(),
  facts: json<BatchFacts>("facts").notNull(),
  requestsTotal: integer("requests_total"),
  createdAt: instant("created_at").notNull(),
  deletedAt: instant("deleted_at"),

  recordId: uuid("record_id").notNull(),
  startedAt: instant("started_at").notNull(),
  routes: labels("routes").notNull(),
  models: labels("models").notNull(),
  direct: boolean("direct").notNull().default(false),
  ...callerColumns,
  session: label("session"),
  agentSession: label("agent_session"),
  parentSession: label("parent_session"),
  client: label("client").notNull(),
  tags: labels("tags").notNull(),
  agentId: label("agent_id"),
  parentAgentId: label("parent_agent_id"),

  /** When its cost was recorded; null until then. */
  reconciledAt: instant("reconciled_at"),
  /** Exact USD; null when unknown. */
  costUsd: exact("cost_usd"),
  /** Which prices `cost_usd` was computed at; null until its cost was recorded. */
  costBasis: label("cost_basis").$type<CostBasis>(),
  /** At the prices of the provider's batch tier; null when unknown. */
  discountedCostUsd: exact("discounted_cost_usd"),
  /** The cost is a lower bound. */
  partial: boolean("partial").notNull().default(false),
  nextCheckAt: instant("next_check_at").notNull(),
  checks: integer("checks").notNull().default(0),
}).keyedBy(["id"], (table) => [
  index("batches_key").on(table.orgId, table.keyId, table.startedAt, table.id),
  index("batches_due").on(table.nextCheckAt).where(sql`${table.reconciledAt} is null`),
]);
