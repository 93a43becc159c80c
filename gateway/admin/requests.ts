import { CHANNELS, COST_BASES, STATES } from "#drizzle/schema/records.ts";
import { BodyView } from "#shared/admin/bodies.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { RequestPage, type RequestView, RequestView as View } from "#shared/admin/records.ts";
import { keysOf } from "#shared/keys-of.ts";
import { viewAs } from "#shared/view-as.ts";
import { orNotFound, refuse } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import { readCapturedBody } from "../stores/bodies.ts";
import {
  findRequest,
  listRequests,
  listVersions,
  REQUEST_FILTERS,
  type RecordRow,
  type RequestQuery,
} from "../stores/requests.ts";
import { SURFACE_NAMES } from "../surface-facts.ts";
import { explainCost, isCeiling } from "./cost-explanation.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, equalQuery, LIST_QUERY, OWN_OR_TEAM } from "./documented.ts";
import {
  idCursor,
  idParameter,
  keyFilter,
  pageFrom,
  readListQuery,
  readWindow,
  requireKnown,
} from "./list.ts";

const docs = adminRoute("records");
const EQUAL = keysOf(REQUEST_FILTERS);

export const RECORD_QUERY = {
  ...equalQuery(EQUAL),
  direct_team: "Of this team, not of those below it; `(none)`: of no team.",
  cost_center: "Of this cost centre; `(none)`: of none.",
  key: "A key's id or name.",
  tag: "Has this tag.",
  team: "Of this team, or of one below it.",
  status: "HTTP status that the client received.",
  cost_basis: `Where the cost comes from: ${COST_BASES.join(", ")}.`,
  unpriced: "`true`: the cost is unknown; `false`: it is known.",
  partial: "`true`: the cost is a lower bound; `false`: it is not.",
  from: "Started at this time or later: RFC 3339, or a date.",
  to: "Started before this time: RFC 3339, or a date, which includes that day.",
};

/** `/admin/v1/requests`: the records of calls, newest first, and how each cost was calculated. */
export const adminRequests = (deps: AdminDeps) =>
  adminPart(deps, "requests")
    .get(
      "",
      async ({ request, viewer }) => {
        const query = { ...readRecordQuery(request), scope: recordScope(viewer) };
        await awaitSettled(deps);
        const rows = await readDatabase(deps, (db) => listRequests(db, { ...query, limit: query.limit + 1 }));
        return pageFrom(rows, query.limit, { view: viewOf, cursor: (row) => row.id });
      },
      docs({
        summary: "List records, newest first",
        description: OWN_OR_TEAM,
        role: "member",
        query: { ...LIST_QUERY, ...RECORD_QUERY },
        answers: { 200: pageOf(View) },
      }),
    )
    .get(
      "/:id",
      async ({ params, viewer }) => {
        const id = idParameter(params.id);
        await awaitSettled(deps);
        const row = orNotFound(await readDatabase(deps, (db) => findRequest(db, id, recordScope(viewer))));
        const versions = await readDatabase(deps, (db) => listVersions(db, row));
        return { ...viewOf(row), cost: explainCost(row, versions) };
      },
      docs({
        summary: "Read a record and how its cost adds up",
        description: OWN_OR_TEAM,
        role: "member",
        answers: { 200: RequestPage },
      }),
    )
    .get(
      "/:id/body",
      async ({ params, origin }) => {
        const body = orNotFound(await readCapturedBody(deps, idParameter(params.id), origin));
        return viewAs(BodyView, body);
      },
      docs({
        summary: "Read the captured body of a call",
        description:
          "Only where the route has `body_capture`, and for seven days. That it was read is written into the audit.",
        answers: { 200: BodyView },
      }),
    );

export function readRecordQuery(request: Pick<Request, "url">): Omit<RequestQuery, "scope"> {
  const { limit, after, given } = readListQuery(request, [
    ...EQUAL,
    "key",
    "tag",
    "team",
    "status",
    "cost_basis",
    "unpriced",
    "partial",
    "from",
    "to",
  ]);
  const yesOrNo = ["true", "false"];
  requireKnown(given, {
    channel: CHANNELS,
    state: STATES,
    ...(!given.surface?.endsWith("*") && { surface: SURFACE_NAMES }),
    cost_basis: COST_BASES,
    unpriced: yesOrNo,
    partial: yesOrNo,
  });
  const { key, tag = null, team = null, status, cost_basis, unpriced, partial, from, to, ...equal } = given;
  return {
    limit,
    after: after && idCursor(after),
    equal,
    key: keyFilter(key),
    tag,
    team,
    status: status === undefined ? null : statusOf(status),
    costBasis: COST_BASES.find((known) => known === cost_basis) ?? null,
    unpriced: unpriced === undefined ? null : unpriced === "true",
    partial: partial === undefined ? null : partial === "true",
    ...readWindow(from, to),
  };
}

function statusOf(text: string): number {
  if (/^[1-5]\d\d$/.test(text)) return Number(text);
  refuse("status: Expected an HTTP status such as 200.");
}

export const viewOf = (row: RecordRow): RequestView =>
  viewAs(View, {
    ...row,
    team: row.teams?.[0] ?? null,
    costBasis: row.costBasis ?? (row.price === null ? null : "list"),
    ceiling: isCeiling(row),
  });
