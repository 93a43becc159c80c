import { Type } from "@sinclair/typebox";
import { pageOf } from "#shared/admin/fields.ts";
import {
  DearMergeView,
  PullRequestPage,
  type PullRequestPage as PullRequestPageView,
  PullRequestView,
} from "#shared/admin/pull-requests.ts";
import { closed } from "#shared/schema.ts";
import { GatewayError, orNotFound } from "../errors.ts";
import { noteExport } from "../identity/authorize.ts";
import { recordScope } from "../identity/scope.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import { pullRequestScope } from "../stores/pull-request-rights.ts";
import { acceptClaim, findPullRequest } from "../stores/pull-requests.ts";
import { dearestMerges } from "./dearest-merges.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute, equalQuery, LIST_QUERY } from "./documented.ts";
import { EQUAL, pullRequestsCsv, pullRequestsPage, readPullId, readPullsQuery } from "./pull-request-list.ts";
import { pullRequestPage } from "./pull-request-page.ts";

const docs = adminRoute("records");
const RIGHTS =
  "Its author (the GitHub account linked to the person), the owner of more than half of its calls, the managers of their teams and administrators see all of it. Others who made calls of it see their own part (`whole` is false); for everyone else it does not exist.";
/** Reports have the cost of pull requests, too. */
const PULL_REQUEST_READERS = ["pull_requests", "reports"] as const;

/** `/admin/v1/pull-requests`: pull requests from GitHub, and why each is joined to a session or not. */
export const adminPullRequests = (deps: AdminDeps) =>
  adminPart(deps, "pull-requests")
    .get(
      "",
      async ({ request, viewer }) => {
        const query = readPullsQuery(request);
        if (query.format === "json") return pullRequestsPage(deps, viewer, query);
        await noteExport({ ...deps, request, actor: viewer.actor }, "pull requests");
        return pullRequestsCsv(deps, viewer, query);
      },
      docs({
        summary: "List pull requests, newest merge first",
        description: RIGHTS,
        role: "member",
        scopes: PULL_REQUEST_READERS,
        query: {
          ...LIST_QUERY,
          ...equalQuery(EQUAL),
          number: "Its number in its repository.",
          from: "Merged, or else opened, at this time or later: RFC 3339, or a date.",
          to: "Before this time: RFC 3339, or a date, which includes that day.",
          team: "The team, or one above it, of its author or of calls of its session.",
          min_cost: "Its known cost is at least this many USD.",
          format: "`csv` gives up to 10,000 of them as a file.",
        },
        answers: { 200: pageOf(PullRequestView) },
      }),
    )
    .get(
      "/dearest",
      async ({ request, viewer }) => ({ data: await dearestMerges(deps, viewer, readPullsQuery(request)) }),
      { ...DEAREST },
    )
    .get(
      "/:id",
      async ({ params, viewer }) => {
        const id = readPullId(params.id);
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

const DEAREST = docs({
  summary: "The ten dearest merges, and what sets each apart",
  description: `Each is compared with the usual merge of its repository in the same time, both without releases and backports. Where branches split its session, \`factors\` are empty. ${RIGHTS}`,
  role: "manager",
  scopes: PULL_REQUEST_READERS,
  query: {
    from: "Merged at this time or later: RFC 3339, or a date.",
    to: "Before this time: RFC 3339, or a date, which includes that day.",
    ...equalQuery(["repository", "author"]),
    team: "With calls of this team or one below it.",
  },
  answers: { 200: closed({ data: Type.Array(DearMergeView, { maxItems: 10 }) }) },
});

const ACCEPT = docs({
  summary: "Accept the session that a pull request from outside names",
  description: "It then counts as any other. Only a pull request whose `link` is `claimed` can be accepted.",
  answers: { 200: PullRequestPage },
});

async function accept(deps: AdminDeps, origin: Origin, text: string): Promise<PullRequestPageView> {
  const id = readPullId(text);
  const before = orNotFound(id && (await readDatabase(deps, (db) => findPullRequest(db, id))));
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
