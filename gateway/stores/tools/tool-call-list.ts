import { and, arrayContains, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { keys } from "#drizzle/schema/keys.ts";
import { toolCalls } from "#drizzle/schema/tools.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { equalTo } from "../equal-to.ts";
import { inRecordScope, type RecordScope } from "../record-scope.ts";
import type { Slice } from "../slice.ts";

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
type ToolCallFilter = keyof typeof TOOL_CALL_FILTERS;

export type ToolCallQuery = Slice & {
  equal: Partial<Record<ToolCallFilter, string>>;
  /** A key's name, or its id. */
  key: { name: string } | { id: string } | null;
  /** The team, or one above it. */
  team: string | null;
  /** RFC 3339; half-open, `from` ≤ start < `to`. */
  from: string | null;
  to: string | null;
  scope: RecordScope;
};

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
    .where(and(...conditionsOf(query)))
    .orderBy(desc(toolCalls.id))
    .limit(query.limit);

function* conditionsOf({ equal, key, team, from, to, after, scope }: ToolCallQuery): Generator<SQL> {
  yield eq(toolCalls.orgId, DEFAULT_ORG);
  yield* inRecordScope(scope, toolCalls);
  yield* equalTo(TOOL_CALL_FILTERS, equal);
  if (key) yield "id" in key ? eq(toolCalls.keyId, key.id) : eq(keys.name, key.name);
  if (team !== null) yield arrayContains(toolCalls.teams, [team]);
  if (from !== null) yield gte(toolCalls.startedAt, from);
  if (to !== null) yield lt(toolCalls.startedAt, to);
  if (after !== null) yield lt(toolCalls.id, after);
}
