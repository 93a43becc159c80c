import { Elysia } from "elysia";
import { CHANNELS, STATES } from "#drizzle/schema/records.ts";
import { pageOf, readEnd, readInstant } from "#shared/admin/fields.ts";
import {
  RequestPage,
  type RequestPage as RequestPageView,
  type RequestView,
  RequestView as View,
} from "#shared/admin/records.ts";
import { isId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  findRequest,
  listRequests,
  REQUEST_FILTERS,
  type RecordRow,
  type RequestFilter,
  type RequestQuery,
} from "../stores/requests.ts";
import { explainCost } from "./cost-explanation.ts";
import { type AdminDeps, awaitSettled, read } from "./deps.ts";
import { documented, LIST_QUERY } from "./documented.ts";
import { page, readListQuery, requireKnown } from "./list.ts";
import { requireCursor, requireId } from "./names.ts";

const docs = documented("records");
const EQUAL = Object.keys(REQUEST_FILTERS) as RequestFilter[];

/** `/admin/v1/requests`: the records of calls, newest first, and why each cost what it cost. */
export const adminRequests = (deps: AdminDeps) =>
  new Elysia({ name: "admin.requests", prefix: "/requests" })
    .use(adminKey(deps.isAdmin))
    .get(
      "",
      async ({ request }) => {
        const query = readQuery(request);
        await awaitSettled(deps);
        const rows = await read(deps, (db) => listRequests(db, { ...query, limit: query.limit + 1 }));
        return page(rows, query.limit, { view: viewOf, cursor: (row) => row.id });
      },
      docs({
        summary: "List records, newest first",
        query: {
          ...LIST_QUERY,
          ...Object.fromEntries(EQUAL.map((name) => [name, "Exactly this value."])),
          key: "A key's id or name.",
          tag: "Recorded with this tag.",
          status: "HTTP status that the client got.",
          from: "Started then or later: RFC 3339, or a date.",
          to: "Started before then: RFC 3339, or a date, which includes that day.",
        },
        answers: { 200: pageOf(View) },
      }),
    )
    .get(
      "/:id",
      async ({ params }) => {
        const id = requireId(params.id);
        await awaitSettled(deps);
        const row = await read(deps, (db) => findRequest(db, id));
        if (!row) throw new GatewayError("not_found");
        return pageViewOf(row);
      },
      docs({ summary: "Read a record, and why it cost what it cost", answers: { 200: RequestPage } }),
    );

function readQuery(request: Request): RequestQuery {
  const { limit, after, given } = readListQuery(request, [...EQUAL, "key", "tag", "status", "from", "to"]);
  requireKnown(given, { channel: CHANNELS, state: STATES });
  const { key, tag = null, status, from, to, ...equal } = given;
  return {
    limit,
    after: after && requireCursor(after),
    equal,
    key: key === undefined ? null : isId(key) ? { id: key } : { name: key },
    tag,
    status: status === undefined ? null : statusOf(status),
    from: from === undefined ? null : instant("from", readInstant(from)),
    to: to === undefined ? null : instant("to", readEnd(to)),
  };
}

function statusOf(text: string): number {
  if (/^[1-5]\d\d$/.test(text)) return Number(text);
  throw new GatewayError("invalid_request", "status: Expected an HTTP status such as 200.");
}

function instant(name: string, atMs: number | null): string {
  if (atMs !== null) return new Date(atMs).toISOString();
  throw new GatewayError("invalid_request", `${name}: Expected an RFC 3339 date-time or a date.`);
}

function viewOf(row: RecordRow): RequestView {
  const { price: _, ...rest } = row;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [snake(name), value])) as RequestView;
}

/** `cacheWrite5mTokens` is `cache_write_5m_tokens`, as the column is called. */
const snake = (name: string): string => name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);

const pageViewOf = (row: RecordRow): RequestPageView => ({ ...viewOf(row), cost: explainCost(row) });
