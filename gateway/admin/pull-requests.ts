import { LINK_STATES } from "#drizzle/schema/github.ts";
import { pageOf } from "#shared/admin/fields.ts";
import {
  PullRequestPage,
  type PullRequestPage as PullRequestPageView,
  type PullRequestView as PullRequestRowView,
  PullRequestView,
} from "#shared/admin/pull-requests.ts";
import { keysOf } from "#shared/keys-of.ts";
import { GatewayError } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import { pullRequestScope, pullRequestShares } from "../stores/pull-request-rights.ts";
import {
  acceptClaim,
  findPullRequest,
  listPullRequests,
  PULL_REQUEST_FILTERS,
  type PullRequestCursor,
  type PullRequestId,
  type PullRequestQuery,
  type PullRequestRow,
} from "../stores/pull-requests.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { pageFrom, readListQuery, readWindow, requireKnown } from "./list.ts";
import { pullRequestPage, pullRequestView } from "./pull-request-page.ts";

const docs = adminRoute("records");
const RIGHTS =
  "Its author (the GitHub account linked to the person), the owner of more than half of its calls, the managers of their teams and administrators see all of it. Others who made calls of it see their own part (`whole` is false); for everyone else it does not exist.";
/** Reports have the cost of pull requests, too. */
const PULL_REQUEST_READERS = ["pull_requests", "reports"] as const;
const EQUAL = keysOf(PULL_REQUEST_FILTERS);
const PULL_REQUEST_STATES = ["open", "closed", "merged"] as const;

/** `/admin/v1/pull-requests`: pull requests from GitHub, and why each is joined to a session or not. */
export const adminPullRequests = (deps: AdminDeps) =>
  adminPart(deps, "pull-requests")
    .get(
      "",
      async ({ request, viewer }) => {
        const query = { ...readQuery(request), within: viewer.repository };
        const { limit } = query;
        const scope = await readDatabase(deps, (db) => pullRequestScope(db, recordScope(viewer)));
        const rows = await readDatabase(deps, (db) =>
          listPullRequests(db, { ...query, scope, limit: limit + 1 }),
        );
        const shareOf = await readDatabase(deps, (db) => pullRequestShares(db, scope, rows));
        const view = (row: PullRequestRow) => pullRequestView(row, shareOf(row));
        const page = pageFrom(rows, limit, { view, cursor: cursorOf });
        // A filter does not reveal what a row hides.
        const isTold = ({ whole }: PullRequestRowView) => whole || query.equal.author === undefined;
        return { ...page, data: page.data.filter(isTold) };
      },
      docs({
        summary: "List pull requests, newest merge first",
        description: RIGHTS,
        role: "member",
        scopes: PULL_REQUEST_READERS,
        query: {
          ...LIST_QUERY,
          ...Object.fromEntries(EQUAL.map((name) => [name, "Exactly this value."])),
          number: "Its number in its repository.",
          from: "Merged, or else opened, at this time or later: RFC 3339, or a date.",
          to: "Before this time: RFC 3339, or a date, which includes that day.",
        },
        answers: { 200: pageOf(PullRequestView) },
      }),
    )
    .get(
      "/:id",
      async ({ params, viewer }) => {
        const id = readId(params.id);
        await awaitSettled(deps);
        const scope = await readDatabase(deps, (db) => pullRequestScope(db, recordScope(viewer)));
        const row = id && (await readDatabase(deps, (db) => findPullRequest(db, id, scope)));
        const { repository: within } = viewer;
        const isWithin = within === null || row?.repository?.toLowerCase() === within;
        if (!row || !isWithin) throw new GatewayError("not_found");
        return pullRequestPage(deps, row, scope);
      },
      docs({
        summary: "Read a pull request, and why it is joined or not",
        description: RIGHTS,
        role: "member",
        scopes: PULL_REQUEST_READERS,
        answers: { 200: PullRequestPage },
      }),
    )
    .post("/:id/accept", ({ params, origin }) => accept(deps, origin, params.id), { ...ACCEPT });

function readQuery(request: Request): Omit<PullRequestQuery, "scope" | "within"> {
  const { limit, after, given } = readListQuery(request, [...EQUAL, "number", "from", "to"]);
  requireKnown(given, { link: LINK_STATES, state: PULL_REQUEST_STATES });
  const { number, from, to, ...equal } = given;
  return {
    limit,
    after: after === null ? null : readCursor(after),
    equal,
    number: number === undefined ? null : numberOf(number),
    ...readWindow(from, to),
  };
}

function numberOf(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= NUMBER_MAX) return Number(text);
  throw new GatewayError("invalid_request", "number: Expected the number of a pull request.");
}

const ACCEPT = docs({
  summary: "Accept the session that a pull request from outside names",
  description: "It then counts as any other. Only a pull request whose `link` is `claimed` can be accepted.",
  answers: { 200: PullRequestPage },
});

async function accept(deps: AdminDeps, origin: Origin, text: string): Promise<PullRequestPageView> {
  const id = readId(text);
  const before = id && (await readDatabase(deps, (db) => findPullRequest(db, id)));
  if (!before) throw new GatewayError("not_found");
  await audited(deps.database, origin, async (tx, audit) => {
    const session = await acceptClaim(tx, before, deps.clock.now());
    if (session === null) throw new GatewayError("conflict", "This pull request claims no session.");
    await audit({
      action: "pull_request.claim_accepted",
      subject: text,
      before: { link: before.link, session, author: before.authorLogin },
      after: { link: "unknown_session", session, author: before.authorLogin },
    });
  });
  const row = await readDatabase(deps, (db) => findPullRequest(db, before));
  return pullRequestPage(deps, row ?? before);
}

/** Largest value of a Postgres `integer`. */
const NUMBER_MAX = 2_147_483_647;

function readId(text: string): PullRequestId | null {
  const [, repositoryId, number] = /^(\d{1,15})-(\d{1,10})$/.exec(text) ?? [];
  if (!repositoryId || Number(number) > NUMBER_MAX) return null;
  return { repositoryId: Number(repositoryId), number: Number(number) };
}

const cursorOf = ({ at, repositoryId, number }: PullRequestRow): string =>
  `${Date.parse(at)}-${repositoryId}-${number}`;

function readCursor(text: string): PullRequestCursor {
  const [, atMs, rest = ""] = /^(\d{1,15})-(.+)$/.exec(text) ?? [];
  const id = readId(rest);
  if (id && Number(atMs) < 8.64e15) return { ...id, at: new Date(Number(atMs)).toISOString() };
  throw new GatewayError("invalid_request", "after: Expected the `next` of the previous page.");
}
