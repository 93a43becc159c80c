import { and, desc, eq, sql } from "drizzle-orm";
import { keys } from "#drizzle/schema/keys.ts";
import { toolCalls } from "#drizzle/schema/tools.ts";
import type { Reader } from "../change.ts";
import { type RecordQuery, recordConditions } from "../record-list.ts";

/** Columns that the list can be narrowed by, each to one exact value. */
export const TOOL_CALL_FILTERS = {
  external_id: toolCalls.externalId,
  session: toolCalls.session,
  client: toolCalls.client,
  owner: toolCalls.owner,
  channel: toolCalls.channel,
  status: toolCalls.status,
  server: toolCalls.server,
  tool: toolCalls.tool,
} as const;

export type ToolCallQuery = RecordQuery<keyof typeof TOOL_CALL_FILTERS>;

/** Newest first: ids are made in order of time. */
export const listToolCalls = (reader: Reader, query: ToolCallQuery) =>
  reader
    .select({
      id: toolCalls.id,
      external_id: toolCalls.externalId,
      started_at: toolCalls.startedAt,
      channel: toolCalls.channel,
      status: toolCalls.status,
      key_id: toolCalls.keyId,
      key_name: keys.name,
      owner: toolCalls.owner,
      user_label: toolCalls.userLabel,
      team: sql<string | null>`${toolCalls.teams}[1]`,
      cost_center: toolCalls.costCenter,
      client: toolCalls.client,
      session: toolCalls.session,
      tags: toolCalls.tags,
      server: toolCalls.server,
      tool: toolCalls.tool,
      latency_ms: toolCalls.latencyMs,
      cost_usd: toolCalls.costUsd,
      error_code: toolCalls.errorCode,
      error_cause: toolCalls.errorCause,
      guardrail: toolCalls.guardrail,
    })
    .from(toolCalls)
    .leftJoin(keys, and(eq(keys.orgId, toolCalls.orgId), eq(keys.id, toolCalls.keyId)))
    .where(and(...recordConditions({ of: toolCalls, filters: TOOL_CALL_FILTERS }, query)))
    .orderBy(desc(toolCalls.id))
    .limit(query.limit);
