import { and, desc, eq, getTableColumns, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { isClaim } from "#drizzle/claims.ts";
import type { Database, Transaction } from "#drizzle/database.ts";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { presentName } from "#drizzle/repository-name.ts";
import { githubFeedback, pullRequestCommits } from "#drizzle/schema/feedback.ts";
import { pullRequests, repositories } from "#drizzle/schema/github.ts";
import { isOfTask, sessionsOfTasks } from "#drizzle/session-links.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type Revert, revertsQuery } from "../reports/reverts.ts";
import type { Reader } from "./change.ts";
import { type PullRequestScope, takesPart } from "./pull-request-rights.ts";
import { equalTo } from "./record-list.ts";
import type { Slice } from "./slice.ts";
import { withStoreErrors } from "./store-errors.ts";

const ORG = `'${DEFAULT_ORG}'`;

/** Columns that a list of pull requests can be narrowed by, each to one exact value. */
export const PULL_REQUEST_FILTERS = {
  repository: repositories.fullName,
  link: pullRequests.link,
  state: pullRequests.state,
  session: pullRequests.session,
  author: pullRequests.authorLogin,
} as const;
type PullRequestFilter = keyof typeof PULL_REQUEST_FILTERS;

export type PullRequestId = { repositoryId: number; number: number };

const keyOf = ({ repositoryId, number }: PullRequestId): PullRequestId => ({ repositoryId, number });

/** A position in the list: that of the pull request at `at`. */
export type PullRequestCursor = PullRequestId & { at: string };

export type PullRequestQuery = Slice<PullRequestCursor> & {
  equal: Partial<Record<PullRequestFilter, string>>;
  /** The only repository of a token, in lower case; null: any. */
  within: string | null;
  number: number | null;
  /** Half-open, of when it was merged, else opened. */
  from: string | null;
  to: string | null;
  scope: PullRequestScope;
  /** As a scope: those of a team. Null: of any. */
  ofTeam: PullRequestScope;
};

/** When it was merged, else opened: what the list is ordered by. */
const at = sql<string>`coalesce(${pullRequests.mergedAt}, ${pullRequests.openedAt}, 'epoch')`;
const { orgId: _, ...columns } = getTableColumns(pullRequests);
const selected = {
  ...{ ...columns, repository: repositories.fullName, at: at.mapWith(pullRequests.mergedAt) },
  isClaim: sql<boolean>`${sql.raw(isClaim("pull_requests"))}`,
};

const selectPullRequests = (reader: Reader) =>
  reader
    .select(selected)
    .from(pullRequests)
    .leftJoin(repositories, joinedOn(repositories.id, pullRequests.repositoryId))
    .$dynamic();

export type PullRequestRow = Awaited<ReturnType<typeof selectPullRequests>>[number];

/** Newest merge, or opening, first. */
export const listPullRequests = (reader: Reader, query: PullRequestQuery): Promise<PullRequestRow[]> =>
  selectPullRequests(reader)
    .where(and(...conditionsOf(query)))
    .orderBy(desc(at), desc(pullRequests.repositoryId), desc(pullRequests.number))
    .limit(query.limit);

function* conditionsOf({ equal, ...query }: PullRequestQuery): Generator<SQL> {
  const { within, number, from, to, after } = query;
  yield eq(pullRequests.orgId, DEFAULT_ORG);
  yield* takesPart(query.scope);
  yield* takesPart(query.ofTeam);
  const { repository, ...others } = equal;
  const isPart = repository?.endsWith("*");
  yield* equalTo(PULL_REQUEST_FILTERS, isPart ? equal : others);
  if (repository !== undefined && !isPart)
    yield sql`${repositories.fullName} = (select ${sql.raw(presentName("g.name", ORG))} from (select ${repository}::text as name) g)`;
  if (within !== null) yield eq(sql`lower(${repositories.fullName})`, within);
  if (number !== null) yield eq(pullRequests.number, number);
  if (from !== null) yield sql`${at} >= ${from}::timestamptz`;
  if (to !== null) yield sql`${at} < ${to}::timestamptz`;
  if (after) {
    const place = sql`(${after.at}::timestamptz, ${after.repositoryId}::bigint, ${after.number}::integer)`;
    yield sql`(${at}, ${pullRequests.repositoryId}, ${pullRequests.number}) < ${place}`;
  }
}

export type PullRequestRevert = { reverter: number; original: number; rule: string };

/** Every revert in the repository's merged pull requests, latest merge first. */
export const repositoryReverts = (
  { sql: run }: Pick<Database, "sql">,
  repositoryId: number,
): Promise<PullRequestRevert[]> =>
  withStoreErrors(async () => {
    const { text, params } = revertsQuery(DEFAULT_ORG, repositoryId);
    const rows = await run.unsafe<(Revert & { rule: string })[]>(text, [...params]);
    return rows.map(({ reverter, original, rule }) => ({
      reverter: Number(reverter.split("#")[1]),
      original: Number(original.split("#")[1]),
      rule,
    }));
  });

/** When the commits of a pull request were read from GitHub; null: they were not. */
export async function commitsReadAt(reader: Reader, id: PullRequestId): Promise<string | null> {
  const isOf = ours(pullRequestCommits, keyOf(id));
  const [row] = await reader.select({ at: pullRequestCommits.readAt }).from(pullRequestCommits).where(isOf);
  return row?.at ?? null;
}

/** What the App shows, or will show, on a pull request on GitHub. */
export function githubFeedbackOn(reader: Reader, id: PullRequestId) {
  const { kind, shownAt, failure } = githubFeedback;
  const shown = reader.select({ kind, shownAt, failure }).from(githubFeedback);
  return shown.where(ours(githubFeedback, keyOf(id))).orderBy(kind);
}

/** Who else uses a task's session: merged pull requests that name it, without claims, and people and keys that made the task's calls. */
export async function sessionUse(
  reader: Pick<Transaction, "select" | "execute">,
  session: string,
): Promise<{ pullRequests: number; people: number; keys: number }> {
  const [named] = await reader
    .select({ count: sql<number>`count(*)::integer` })
    .from(pullRequests)
    .where(
      ours(pullRequests, { session }, isNotNull(pullRequests.mergedAt), ne(pullRequests.link, "claimed")),
    );
  const [made] = await reader.execute<{ people: number; keys: number }>(sql`
    with task as (select ${session}::text as session)
    select count(distinct coalesce(c.user_label, c.owner))::integer as people, count(distinct c.key_id)::integer as keys
    from (${sql.raw(sessionsOfTasks("task", ORG))}) n join requests c on c.session = n.session and c.org_id = ${DEFAULT_ORG}
    where ${sql.raw(isOfTask)}`);
  return { pullRequests: named?.count ?? 0, people: made?.people ?? 0, keys: made?.keys ?? 0 };
}

/** Accepts the session in a pull request's body; the App then joins it. @returns the session; null: no claim. */
export async function acceptClaim(tx: Transaction, id: PullRequestId, now: Date): Promise<string | null> {
  const at = now.toISOString();
  const accepted = { deliveryId: null, rule: "claim_accepted", sessionIds: [], diagnostics: [], at };
  const [row] = await tx
    .update(pullRequests)
    .set({
      link: "unknown_session",
      acceptedSession: sql`${pullRequests.session}`,
      evidence: sql`${pullRequests.evidence} || ${JSON.stringify([accepted])}::jsonb`,
    })
    .where(ours(pullRequests, { ...keyOf(id), link: "claimed" }))
    .returning({ session: pullRequests.session });
  return row?.session ?? null;
}

export const findPullRequest = (
  reader: Reader,
  id: PullRequestId,
  scope: PullRequestScope = null,
): Promise<PullRequestRow | null> =>
  first(selectPullRequests(reader).where(ours(pullRequests, keyOf(id), ...takesPart(scope))));
