import { sql } from "drizzle-orm";
import { hasCalls, isAuthorsSession } from "#drizzle/claims.ts";
import type { Database, Transaction } from "#drizzle/database.ts";
import { pullRequests, reviews } from "#drizzle/schema/github.ts";
import { sessionCalls } from "#drizzle/session-cost.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { PullRequestFacts, ReviewFacts } from "../facts/facts.ts";
import { linkAfter } from "../state/link-after.ts";
import { type PullRequestState, pullRequestAfter, type Reported } from "../state/pull-request-after.ts";
import { reviewAfter } from "../state/review-after.ts";
import { type KeyedTable, lockRows, type Merged, mergeRows, replaceRows } from "./merge-rows.ts";

const PULL_REQUESTS: KeyedTable<typeof pullRequests> = {
  table: pullRequests,
  columns: [pullRequests.repositoryId, pullRequests.number],
  keyOf: ({ repositoryId, number }) => [repositoryId, number],
};
const REVIEWS: KeyedTable<typeof reviews> = {
  table: reviews,
  columns: [reviews.repositoryId, reviews.id],
  keyOf: ({ repositoryId, id }) => [repositoryId, id],
};

export type PullRequestKey = Pick<PullRequestState, "repositoryId" | "number">;

export const writePullRequests = (tx: Transaction, facts: readonly Reported<PullRequestFacts>[]) =>
  mergeRows<typeof pullRequests, Reported<PullRequestFacts>>(tx, facts, {
    ...PULL_REQUESTS,
    keyOfFact: ({ facts: it }) => [it.repositoryId, it.number],
    merge: pullRequestAfter,
    complete: (rows) => linked(tx, rows),
  });

export const writeReviews = (tx: Transaction, facts: readonly ReviewFacts[]): Promise<void> =>
  mergeRows<typeof reviews, ReviewFacts>(tx, facts, {
    ...REVIEWS,
    keyOfFact: ({ repositoryId, id }) => [repositoryId, id],
    merge: reviewAfter,
  });

/** Looks again for the session of a merged pull request; true when its link has changed. */
export async function linkAgain(tx: Transaction, { repositoryId, number }: PullRequestKey): Promise<boolean> {
  const [before] = await lockRows(tx, PULL_REQUESTS, [[repositoryId, number]]);
  if (before?.link !== "unknown_session" && before?.link !== "claimed") return false;
  const [after = before] = await linked(tx, [{ before, after: before }]);
  if (after.link === before.link) return false;
  await replaceRows(tx, PULL_REQUESTS, [after]);
  return true;
}

/** The rows with their links, which depend on whether a call of the session is known, and whose. */
async function linked(tx: Transaction, rows: readonly Merged<PullRequestState>[]) {
  const asked = rows.filter(({ before, after }) => {
    const isJoined = before?.link === "joined" && before.session === after.session;
    return after.state === "merged" && !isJoined && after.session !== null;
  });
  const known = await readKnown(
    tx,
    asked.map(({ after }) => after),
  );
  const nothing = { firstRequestAt: null, isOwners: false, isPublic: true };
  return rows.map(({ before, after }) => linkAfter(before, after, known.get(keyOf(after)) ?? nothing));
}

const keyOf = ({ repositoryId, number }: PullRequestKey): string => `${repositoryId}#${number}`;

/** Known facts about the sessions of these pull requests, by `keyOf`. */
async function readKnown(tx: Transaction, pullRequests: readonly PullRequestState[]) {
  if (pullRequests.length === 0) return new Map();
  const asked = pullRequests.map((it) => ({
    repository_id: it.repositoryId,
    number: it.number,
    session: it.session,
    author_login: it.authorLogin,
  }));
  type Row = { repository_id: string; number: number; at: string | null; owners: boolean; public: boolean };
  const rows = await tx.execute<Row>(sql`
    select a.repository_id, a.number, (
        select min(c.at) from ${sessionCalls} c where c.session = a.session) as at,
      ${sql.raw(isAuthorsSession("a"))} as owners, coalesce(not p.is_private, true) as public
    from (select ${DEFAULT_ORG} as org_id, * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
      as a(repository_id bigint, number integer, session text, author_login text)) a
    left join repositories p on p.org_id = a.org_id and p.id = a.repository_id`);
  return new Map(
    rows.map((row) => [
      keyOf({ repositoryId: Number(row.repository_id), number: row.number }),
      {
        firstRequestAt: row.at === null ? null : new Date(row.at).toISOString(),
        isOwners: row.owners,
        isPublic: row.public,
      },
    ]),
  );
}

/** The next `limit` pull requests after `after` without a known session, and whether there is reason to link them again. */
export async function unlinkedPullRequests(
  { db }: Database,
  after: PullRequestKey,
  limit: number,
): Promise<(PullRequestKey & { known: boolean })[]> {
  const rows = await db.execute<{ repository_id: string; number: number; known: boolean }>(sql`
    select p.repository_id, p.number, case when p.link = 'claimed' then ${sql.raw(isAuthorsSession("p"))}
      else ${sql.raw(hasCalls("p.session", "p.org_id"))} end as known
    from pull_requests p
    where p.org_id = ${DEFAULT_ORG} and p.link in ('unknown_session', 'claimed')
      and (p.repository_id, p.number) > (${after.repositoryId}::bigint, ${after.number}::integer)
    order by p.repository_id, p.number
    limit ${limit}`);
  return rows.map(({ repository_id: id, number, known }) => ({ repositoryId: Number(id), number, known }));
}
