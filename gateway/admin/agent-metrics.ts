import { AgentSessionView } from "#shared/admin/agent-sessions.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { DroppedNameView } from "#shared/admin/metrics.ts";
import { refuse } from "../errors.ts";
import { listDroppedNames } from "../stores/agent-metrics.ts";
import { type AgentSessionQuery, listAgentSessions } from "../stores/agent-sessions.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { idCursor, keyFilter, pageFrom, readListQuery, readWindow } from "./list.ts";

const docs = adminRoute("records");

/** Days that the list covers by default. */
const DAYS = 30;
const DAY_MS = 86_400_000;

/** `/admin/v1/agent-sessions`: per session, what agents report beside what the gateway recorded. */
export const adminAgentSessions = (deps: AdminDeps) =>
  adminPart(deps, "agent-sessions").get(
    "",
    async ({ request }) => {
      const query = readQuery(request, deps.clock.now());
      await awaitSettled(deps);
      const rows = await readDatabase(deps, (db) =>
        listAgentSessions(db, { ...query, limit: query.limit + 1 }),
      );
      return pageFrom(rows, query.limit, {
        view: (row): AgentSessionView => row,
        cursor: (row) => `${row.last_at}_${row.session}`,
      });
    },
    docs({
      summary: "List sessions in agents' metrics, most recent first",
      description:
        "Shows the agent's own estimate beside the gateway's cost of the same session. They are never added; if `also_proxied` is true, both cover the same work.",
      query: {
        ...LIST_QUERY,
        client: "Exactly this client.",
        also_proxied: "`true`: only sessions with calls through the gateway; `false`: only the others.",
        from: `Reported at this time or later: RFC 3339, or a date. Default: ${DAYS} days ago.`,
        to: "Reported before this time: RFC 3339, or a date, which includes that day. Default: any.",
      },
      answers: { 200: pageOf(AgentSessionView) },
    }),
  );

function readQuery(request: Request, now: Date): AgentSessionQuery {
  const { limit, after, given } = readListQuery(request, ["client", "also_proxied", "from", "to"]);
  const { from, to, also_proxied: proxied } = given;
  if (proxied !== undefined && proxied !== "true" && proxied !== "false")
    refuse("also_proxied: Expected true or false.");
  const window = readWindow(from, to);
  return {
    limit,
    after: after === null ? null : cursorOf(after),
    client: given.client ?? null,
    alsoProxied: proxied === undefined ? null : proxied === "true",
    from: window.from ?? new Date(now.getTime() - DAYS * DAY_MS).toISOString(),
    to: window.to ?? new Date(now.getTime() + DAYS * DAY_MS).toISOString(),
  };
}

const CURSOR = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)_([A-Za-z0-9._:-]{1,64})$/;

function cursorOf(after: string): NonNullable<AgentSessionQuery["after"]> {
  const [, lastAt, session] = CURSOR.exec(after) ?? [];
  if (lastAt && session) return { lastAt, session };
  refuse("after: Expected the `next` of the previous page.");
}

/** `/admin/v1/metrics-dropped`: names of metrics and attributes that the receiver got but does not store. */
export const adminMetricsDropped = (deps: AdminDeps) =>
  adminPart(deps, "metrics-dropped").get(
    "",
    async ({ request }) => {
      const { limit, after, given } = readListQuery(request, ["key", "kind"]);
      const query = {
        limit: limit + 1,
        after: after && idCursor(after),
        key: keyFilter(given.key),
        kind: given.kind ?? null,
      };
      const rows = await readDatabase(deps, (db) => listDroppedNames(db, query));
      return pageFrom(rows, limit, { view: (row): DroppedNameView => row, cursor: (row) => row.id });
    },
    docs({
      summary: "List names of metrics and attributes that were not stored, newest first",
      description: "Keeps at most 1,000 names per key and day.",
      query: { ...LIST_QUERY, key: "A key's id or name.", kind: "`attribute` or `metric`." },
      answers: { 200: pageOf(DroppedNameView) },
    }),
  );
