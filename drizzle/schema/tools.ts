import { sql } from "drizzle-orm";
import { boolean, index, integer, smallint, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { callerColumns, changedColumns, exact, instant, json, label, labels, orgTable } from "./columns.ts";

/** The outcome of a tool call. */
export const TOOL_STATUSES = ["ok", "failed", "unknown", "denied", "pending"] as const;
export type ToolStatus = (typeof TOOL_STATUSES)[number];

/** Who observed a tool call: an agent's hook, or the tool gateway. The later one takes precedence. */
export const TOOL_CHANNELS = ["hook", "mcp"] as const;
export type ToolChannel = (typeof TOOL_CHANNELS)[number];

/**
 * One row per tool call, merged from observations of hooks and the tool gateway, in any order
 * (gateway/stores/tools/tool-calls.ts). Not partitioned: a second observer cannot know the month in which the call began,
 * which a key that is unique across partitions would have to include. No column can contain arguments, results or texts.
 */
export const toolCalls = orgTable("tool_calls", {
  /** The scope in which `externalId` is unique: the key's owner, or the key's id if it has none. */
  origin: label("origin").notNull(),
  /** The agent's own id of the call, by which its sightings are merged; of a call without one, `id`. */
  externalId: label("external_id").notNull(),
  id: uuid("id").notNull(),
  startedAt: instant("started_at").notNull(),
  channel: label("channel").$type<ToolChannel>().notNull(),
  status: label("status").$type<ToolStatus>().notNull(),
  /** Which sighting decides `status`; see `RANK` in gateway/stores/tools/tool-calls.ts. */
  rank: smallint("rank").notNull(),
  /** When `status` was observed. */
  decidedAt: instant("decided_at").notNull(),

  keyId: uuid("key_id").notNull(),
  ...callerColumns,
  client: label("client").notNull(),
  session: label("session"),
  tags: labels("tags").notNull(),
  /** A server's name; null for a tool that the agent has built in. */
  server: label("server"),
  /** Without its server's prefix; null if the name cannot be stored. */
  tool: label("tool"),

  latencyMs: integer("latency_ms"),
  /** Exact USD; null if no price is set. */
  costUsd: exact("cost_usd"),
  /** An error code of the protocol, such as -32602; never a message. */
  errorCode: label("error_code"),
  /** Why a server gave no answer, such as `dns`. */
  errorCause: label("error_cause"),
  /** The rule that refused the call, or the first observed one that matched. */
  guardrail: label("guardrail"),
}).keyedBy(["origin", "externalId"], (table) => [
  uniqueIndex("tool_calls_id").on(table.orgId, table.id),
  index("tool_calls_started_at").using("brin", table.startedAt).with({ pages_per_range: 32 }),
  index("tool_calls_session")
    .on(table.orgId, table.session, table.startedAt)
    .where(sql`${table.session} is not null`),
  index("tool_calls_pending").on(table.orgId, table.startedAt).where(sql`${table.status} = 'pending'`),
]);

export type ToolCallRow = typeof toolCalls.$inferSelect;

/** Rules that forbid tools to agents with managed hooks. */
export const hookPolicies = orgTable("hook_policies", {
  name: label("name").notNull(),
  enabled: boolean("enabled").notNull(),
  /** Globs; null is any. */
  client: label("client"),
  tool: label("tool").notNull(),
  server: label("server"),
  action: label("action").$type<"deny">().notNull(),
  /** Shown to the agent's model and to the user. */
  reason: label("reason").notNull(),
  ...changedColumns,
}).keyedBy(["name"]);

/** Upstream servers of the tool gateway. */
export const mcpServers = orgTable("mcp_servers", {
  name: label("name").notNull(),
  url: label("url").notNull(),
  /** AES-256-GCM, sealed with the master key and bound to this server's name. */
  credential: label("credential"),
  /** The header that carries the credential unchanged; null: `Authorization: Bearer`. */
  credentialHeader: label("credential_header"),
  /** Globs of tools' own names; an absent list restricts nothing. */
  tools: json<{ allow?: string[]; deny?: string[] }>("tools").notNull(),
  /** Exact USD for a call of any tool that `prices` does not name; null is unknown. */
  pricePerCall: exact("price_per_call"),
  /** Exact USD by tool. */
  prices: json<Record<string, string>>("prices").notNull(),
  allowPrivateNetwork: boolean("allow_private_network").notNull(),
  enabled: boolean("enabled").notNull(),
  ...changedColumns,
}).keyedBy(["name"]);
