import { TOOL_CHANNELS, TOOL_STATUSES } from "#drizzle/schema/tools.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { ToolCallView } from "#shared/admin/tool-calls.ts";
import { keysOf } from "#shared/keys-of.ts";
import { viewAs } from "#shared/view-as.ts";
import { recordScope } from "../identity/scope.ts";
import { listToolCalls, TOOL_CALL_FILTERS, type ToolCallQuery } from "../stores/tools/tool-call-list.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, equalQuery, LIST_QUERY, OWN_OR_TEAM } from "./documented.ts";
import { idCursor, keyFilter, pageFrom, readListQuery, readWindow, requireKnown } from "./list.ts";

const docs = adminRoute("records");
const EQUAL = keysOf(TOOL_CALL_FILTERS);

/** `/admin/v1/tool-calls`: what hooks and the tool gateway saw of calls of tools, newest first. */
export const adminToolCalls = (deps: AdminDeps) =>
  adminPart(deps, "tool-calls").get(
    "",
    async ({ request, viewer }) => {
      const query = { ...readQuery(request), scope: recordScope(viewer) };
      await awaitSettled(deps);
      const rows = await readDatabase(deps, (db) => listToolCalls(db, { ...query, limit: query.limit + 1 }));
      return pageFrom(rows, query.limit, {
        view: (row) => viewAs(ToolCallView, row),
        cursor: (row) => row.id,
      });
    },
    docs({
      summary: "List tool calls, newest first",
      description: `One row for each call, also where an agent's hook and the tool gateway both saw it. ${OWN_OR_TEAM}`,
      role: "member",
      query: {
        ...LIST_QUERY,
        ...equalQuery(EQUAL),
        key: "A key's id or name.",
        team: "Of this team, or of one below it.",
        from: "Started at this time or later: RFC 3339, or a date.",
        to: "Started before this time: RFC 3339, or a date, which includes that day.",
      },
      answers: { 200: pageOf(ToolCallView) },
    }),
  );

function readQuery(request: Request): Omit<ToolCallQuery, "scope"> {
  const { limit, after, given } = readListQuery(request, [...EQUAL, "key", "team", "from", "to"]);
  requireKnown(given, { channel: TOOL_CHANNELS, status: TOOL_STATUSES });
  const { key, team = null, from, to, ...equal } = given;
  return {
    limit,
    after: after && idCursor(after),
    equal,
    key: keyFilter(key),
    team,
    ...readWindow(from, to),
  };
}
