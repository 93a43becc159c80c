import { and, desc, getTableColumns, sql } from "drizzle-orm";
import { joinedOn } from "#drizzle/ours.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { toolCalls } from "#drizzle/schema/tools.ts";
import { picked } from "#shared/keys-of.ts";
import type { Reader } from "../change.ts";
import { type RecordQuery, recordConditions } from "../record-list.ts";

/** Columns that the list can be narrowed by, each to one exact value. */
export const TOOL_CALL_FILTERS = {
  external_id: toolCalls.externalId,
  ...picked(toolCalls, ["session", "client", "owner", "channel", "status", "server", "tool"]),
} as const;

export type ToolCallQuery = RecordQuery<keyof typeof TOOL_CALL_FILTERS>;

const { orgId: _, ...columns } = getTableColumns(toolCalls);
const selected = { ...columns, keyName: keys.name, team: sql<string | null>`${toolCalls.teams}[1]` };

/** Newest first: ids are made in order of time. */
export const listToolCalls = (reader: Reader, query: ToolCallQuery) =>
  reader
    .select(selected)
    .from(toolCalls)
    .leftJoin(keys, joinedOn(keys.id, toolCalls.keyId))
    .where(and(...recordConditions({ of: toolCalls, filters: TOOL_CALL_FILTERS }, query)))
    .orderBy(desc(toolCalls.id))
    .limit(query.limit);
