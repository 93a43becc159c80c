import { Elysia } from "elysia";
import type { LinkState } from "#drizzle/schema/github.ts";
import { type SessionCost, sessionCost } from "#drizzle/session-cost.ts";
import { pageOf } from "#shared/admin/fields.ts";
import {
  PullRequestPage,
  type PullRequestPage as PullRequestPageView,
  type PullRequestView,
  PullRequestView as View,
} from "#shared/admin/records.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  findPullRequest,
  listPullRequests,
  PULL_REQUEST_FILTERS,
  type PullRequestCursor,
  type PullRequestFilter,
  type PullRequestId,
  type PullRequestRow,
} from "../stores/pull-requests.ts";
import { type AdminDeps, awaitSettled, read } from "./deps.ts";
import { documented, LIST_QUERY } from "./documented.ts";
import { page, readListQuery } from "./list.ts";

const docs = documented("records");
const EQUAL = Object.keys(PULL_REQUEST_FILTERS) as PullRequestFilter[];

/** `/admin/v1/pull-requests`: pull requests that GitHub told of, and why each is joined to a session or not. */
export const adminPullRequests = (deps: AdminDeps) =>
  new Elysia({ name: "admin.pull-requests", prefix: "/pull-requests" })
    .use(adminKey(deps.isAdmin))
    .get(
      "",
      async ({ request }) => {
        const { limit, after, given } = readListQuery(request, EQUAL);
        const query = { after: after === null ? null : readCursor(after), limit: limit + 1, equal: given };
        const rows = await read(deps, (db) => listPullRequests(db, query));
        return page(rows, limit, { view: viewOf, cursor: cursorOf });
      },
      docs({
        summary: "List pull requests, newest merge first",
        query: { ...LIST_QUERY, ...Object.fromEntries(EQUAL.map((name) => [name, "Exactly this value."])) },
        answers: { 200: pageOf(View) },
      }),
    )
    .get(
      "/:id",
      async ({ params }) => {
        const id = readId(params.id);
        await awaitSettled(deps);
        const row = id && (await read(deps, (db) => findPullRequest(db, id)));
        if (!row) throw new GatewayError("not_found");
        const { session } = row;
        const cost = session === null ? null : await read(deps, (db) => sessionCost(db, session));
        return pageViewOf(row, cost);
      },
      docs({
        summary: "Read a pull request, and why it is joined or not",
        answers: { 200: PullRequestPage },
      }),
    );

const viewOf = (row: PullRequestRow): PullRequestView => ({
  id: `${row.repositoryId}-${row.number}`,
  repository: row.repository,
  repository_id: row.repositoryId,
  number: row.number,
  state: row.state,
  author: row.authorLogin,
  author_is_bot: row.authorIsBot,
  opened_at: row.openedAt,
  merged_at: row.mergedAt,
  link: row.link,
  session: row.session,
  edited_after_merge: row.editedAfterMerge,
});

const pageViewOf = (row: PullRequestRow, cost: SessionCost | null): PullRequestPageView => ({
  ...viewOf(row),
  reason: REASONS[row.link],
  session_ids: row.sessionIds,
  session_requests: cost?.requests ?? 0,
  session_cost_usd: cost?.costUsd ?? null,
  session_cost_is_lower_bound: cost?.isLowerBound ?? false,
  evidence: row.evidence.map(({ deliveryId, rule, sessionIds, diagnostics, at }) => ({
    delivery_id: deliveryId,
    rule,
    session_ids: sessionIds,
    diagnostics,
    at,
  })),
});

/** Each state of a link in words (DECISIONS.md, pull-request links). */
const REASONS = {
  open: "It is not merged yet.",
  joined: "It was merged, its body names exactly one session, and calls of that session are recorded.",
  no_stamp: "It was merged, and its body has no line `Gateway-Session: <id>`.",
  conflict: "It was merged, and its body names two or more different sessions, so none is believed.",
  unknown_session: "It was merged and its body names one session, of which no call is recorded yet.",
  not_merged: "It was closed without a merge.",
} as const satisfies Record<LinkState, string>;

function readId(text: string): PullRequestId | null {
  const [, repositoryId, number] = /^(\d{1,15})-(\d{1,9})$/.exec(text) ?? [];
  return repositoryId ? { repositoryId: Number(repositoryId), number: Number(number) } : null;
}

const cursorOf = ({ at, repositoryId, number }: PullRequestRow): string =>
  `${Date.parse(at)}-${repositoryId}-${number}`;

function readCursor(text: string): PullRequestCursor {
  const [, atMs, rest = ""] = /^(\d{1,15})-(.+)$/.exec(text) ?? [];
  const id = readId(rest);
  if (id && Number(atMs) < 8.64e15) return { ...id, at: new Date(Number(atMs)).toISOString() };
  throw new GatewayError("invalid_request", "after: Expected `next` of the page before.");
}
