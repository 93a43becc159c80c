import { sql } from "drizzle-orm";
import { boolean, index, integer, smallint, uuid } from "drizzle-orm/pg-core";
import { words } from "#shared/words.ts";
import { callerColumns, exact, instant, json, label, labels, orgTable } from "./columns.ts";

/** How a recorded call ended. `open` exists in the local spool only, never in Postgres. */
export const STATES = words("ok client_gone upstream_broken upstream_error interrupted denied");
export type RequestState = (typeof STATES)[number];

export const CHANNELS = ["api", "subscription", "batch"] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * Where a cost comes from: counts times the list's or an administrator's prices, the provider's own figure, or, of a batch, counts times the prices of
 * interactive calls (an upper bound) or of the provider's batch tier.
 */
export const COST_BASES = ["list", "contract", "vendor", "interactive", "batch"] as const;
export type CostBasis = (typeof COST_BASES)[number];

/** One priced line of a record: `count` units at `usdPerUnit` (an exact decimal) each. */
export type PriceRow = { unit: string; count: number; usdPerUnit: string };

/**
 * The prices a record was priced with: where they come from, and the lines that add up to its cost. `repricedAt` is set
 * where that happened later than its recording (RFC 3339): until then its cost was unknown. `hourUsd` is the price of an hour of
 * sound, whose row is the whole cost.
 */
export type PriceSnapshot = { entry: string; rows: PriceRow[]; hourUsd?: string; repricedAt?: string };

/**
 * One row per client call that resolved to a route or a model. Partitioned by month of `started_at` (in the
 * migration; drizzle cannot express it). No column can contain text of a prompt, an answer or a key.
 */
export const requests = orgTable("requests", {
  id: uuid("id").notNull(),
  /** Admission of the call; never changes, so that a replay is idempotent. */
  startedAt: instant("started_at").notNull(),
  surface: label("surface").notNull(),
  channel: label("channel").$type<Channel>().notNull(),
  state: label("state").$type<RequestState>().notNull(),
  /** HTTP status that the client got, or would have got had it not disconnected. */
  status: smallint("status"),
  /** Our error type or the provider's status class; never a message. */
  errorType: label("error_type"),
  /** Why the provider gave no complete answer: a `FailureCause` (gateway/errors.ts). */
  errorCause: label("error_cause"),
  streamed: boolean("streamed").notNull(),
  attempts: smallint("attempts").notNull(),

  route: label("route").notNull(),
  routeSource: label("route_source").notNull(),
  classifierVersion: label("classifier_version"),
  guardrail: label("guardrail"),
  provider: label("provider"),
  model: label("model"),
  responseModel: label("response_model"),
  /** A model other than `model` answered; the record is priced by that one. */
  modelMismatch: boolean("model_mismatch").notNull().default(false),
  serviceTier: label("service_tier"),
  /** The provider's own id of the call (`x-request-id`, `request-id`). */
  providerRequestId: label("provider_request_id"),
  /** The stored object that later calls can refer to: a response (`previous_response_id`) or a container. */
  keptId: label("kept_id"),
  /** Hashed ids of other stored objects (shared/kept-ids.ts): containers, and the items of a stored response. */
  keptIds: labels("kept_ids"),

  keyId: uuid("key_id").notNull(),
  ...callerColumns,
  session: label("session"),
  /** The agent's own session, where another one counts; and its parent's. */
  agentSession: label("agent_session"),
  parentSession: label("parent_session"),
  client: label("client").notNull(),
  tags: labels("tags").notNull(),
  agentId: label("agent_id"),
  parentAgentId: label("parent_agent_id"),

  /** Whole call, request complete to last byte. */
  latencyMs: integer("latency_ms"),
  /** Streams only: request complete to first chunk with content. */
  ttftMs: integer("ttft_ms"),

  usageSource: label("usage_source").notNull(),
  inputTokens: integer("input_tokens"),
  uncachedInputTokens: integer("uncached_input_tokens"),
  cacheReadTokens: integer("cache_read_tokens"),
  cacheWrite5mTokens: integer("cache_write_5m_tokens"),
  cacheWrite1hTokens: integer("cache_write_1h_tokens"),
  outputTokens: integer("output_tokens"),
  reasoningTokens: integer("reasoning_tokens"),
  audioInputTokens: integer("audio_input_tokens"),
  audioOutputTokens: integer("audio_output_tokens"),
  images: integer("images"),
  characters: integer("characters"),
  documents: integer("documents"),
  searchUnits: integer("search_units"),
  webSearches: integer("web_searches"),
  /** Members of the request that the translation left out; null for a call that was not translated. */
  droppedMembers: integer("dropped_members"),
  imageInputTokens: integer("image_input_tokens"),
  imageOutputTokens: integer("image_output_tokens"),
  searchSources: integer("search_sources"),
  cacheReadAudioTokens: integer("cache_read_audio_tokens"),
  fileSearches: integer("file_searches"),
  /**
   * Size and quality of the requested images, such as `1024x1792 hd`; the requested search, such as `low`; or the search
   * tool, if its name sets its price.
   */
  variant: label("variant"),

  /** Exact USD; null when unknown. */
  costUsd: exact("cost_usd"),
  /** The most that an interrupted call of a key with a budget may have cost: it counts until the cost is known. */
  boundUsd: exact("bound_usd"),
  /** The part of `cost_usd` that tokens were charged for. */
  tokenCostUsd: exact("token_cost_usd"),
  /** Where `cost_usd` comes from; null is the price list. */
  costBasis: label("cost_basis").$type<CostBasis>(),
  /** List-price cost, where an administrator's price or the provider's own figure counts. */
  listCostUsd: exact("list_cost_usd"),
  /** Of a batch: cost at the prices of the provider's batch tier. */
  discountedCostUsd: exact("discounted_cost_usd"),
  /** A 2xx or cut-off answer with no price or no usage. */
  unpriced: boolean("unpriced").notNull(),
  /** The cost is a lower bound: the usage was partial, or something was billed that no figure covers. */
  partial: boolean("partial").notNull(),
  /** A response that its provider makes in the background: usage and cost come once it has ended. Null: nothing more comes. */
  pending: boolean("pending"),
  /** The prices used, as one text (price-text.ts). */
  price: json<string>("price"),
}).keyedBy(["id", "startedAt"], (table) => [
  index("requests_started_at").using("brin", table.startedAt).with({ pages_per_range: 32 }),
  index("requests_session")
    .on(table.orgId, table.session, table.startedAt)
    .where(sql`${table.session} is not null`),
  index("requests_provider_request_id")
    .on(table.orgId, table.providerRequestId)
    .where(sql`${table.providerRequestId} is not null`),
  index("requests_pending").on(table.orgId, table.startedAt).where(sql`${table.pending}`),
  index("requests_kept_id").on(table.orgId, table.keptId).where(sql`${table.keptId} is not null`),
  // Calls wait for lookups in this index, which a list of pending entries would slow down.
  index("requests_kept_ids")
    .using("gin", table.keptIds)
    .with({ fastupdate: false })
    .where(sql`${table.keptIds} is not null`),
]);

export type RequestRow = typeof requests.$inferInsert;

/** Rows that Postgres refused for their data: set aside, so that they block nothing. `code` is the SQLSTATE. */
export const deadRecords = orgTable("dead_records", {
  id: uuid("id").notNull(),
  keyId: uuid("key_id"),
  startedAt: instant("started_at"),
  parkedAt: instant("parked_at").notNull(),
  code: label("code").notNull(),
}).keyedBy(["id"]);
