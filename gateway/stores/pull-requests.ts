import { and, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { pullRequests, repositories } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

/** Columns that a list of pull requests can be narrowed by, each to one exact value. */
export const PULL_REQUEST_FILTERS = {
  repository: repositories.fullName,
  link: pullRequests.link,
  state: pullRequests.state,
  session: pullRequests.session,
  author: pullRequests.authorLogin,
} as const;
export type PullRequestFilter = keyof typeof PULL_REQUEST_FILTERS;

export type PullRequestId = { repositoryId: number; number: number };
/** A place in the list: of the pull request at `at`. */
export type PullRequestCursor = PullRequestId & { at: string };

export type PullRequestQuery = Slice<PullRequestCursor> & {
  equal: Partial<Record<PullRequestFilter, string>>;
};

/** When it was merged, else opened: what the list is ordered by. */
const at = sql<string>`coalesce(${pullRequests.mergedAt}, ${pullRequests.openedAt}, 'epoch')`;
const { orgId: _, ...columns } = getTableColumns(pullRequests);
const selected = { ...columns, repository: repositories.fullName, at: at.mapWith(pullRequests.mergedAt) };

const selectPullRequests = (reader: Reader) =>
  reader
    .select(selected)
    .from(pullRequests)
    .leftJoin(
      repositories,
      and(eq(repositories.orgId, pullRequests.orgId), eq(repositories.id, pullRequests.repositoryId)),
    )
    .$dynamic();

export type PullRequestRow = Awaited<ReturnType<typeof selectPullRequests>>[number];

/** Newest merge, or opening, first. */
export const listPullRequests = (reader: Reader, query: PullRequestQuery): Promise<PullRequestRow[]> =>
  selectPullRequests(reader)
    .where(and(...conditionsOf(query)))
    .orderBy(desc(at), desc(pullRequests.repositoryId), desc(pullRequests.number))
    .limit(query.limit);

function* conditionsOf({ equal, after }: PullRequestQuery): Generator<SQL> {
  yield eq(pullRequests.orgId, DEFAULT_ORG);
  for (const [name, value] of Object.entries(equal)) {
    yield eq(PULL_REQUEST_FILTERS[name as PullRequestFilter], value);
  }
  if (after) {
    const place = sql`(${after.at}::timestamptz, ${after.repositoryId}::bigint, ${after.number}::integer)`;
    yield sql`(${at}, ${pullRequests.repositoryId}, ${pullRequests.number}) < ${place}`;
  }
}

export async function findPullRequest(reader: Reader, id: PullRequestId): Promise<PullRequestRow | null> {
  const [row] = await selectPullRequests(reader).where(
    and(
      eq(pullRequests.orgId, DEFAULT_ORG),
      eq(pullRequests.repositoryId, id.repositoryId),
      eq(pullRequests.number, id.number),
    ),
  );
  return row ?? null;
}
