import { sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { pullRequests, reviews } from "#drizzle/schema/github.ts";
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

export const writePullRequests = (
  tx: Transaction,
  facts: readonly Reported<PullRequestFacts>[],
): Promise<void> =>
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

/** Looks again for the session of a merged pull request; true when it is known now. */
export async function linkAgain(tx: Transaction, { repositoryId, number }: PullRequestKey): Promise<boolean> {
  const [before] = await lockRows(tx, PULL_REQUESTS, [[repositoryId, number]]);
  if (before?.link !== "unknown_session") return false;
  const [after = before] = await linked(tx, [{ before, after: before }]);
  if (after.link === before.link) return false;
  await replaceRows(tx, PULL_REQUESTS, [after]);
  return true;
}

/** The rows with their links, which depend on whether a call of the session is known. */
async function linked(
  tx: Transaction,
  rows: readonly Merged<PullRequestState>[],
): Promise<PullRequestState[]> {
  const sessions = new Set<string>();
  for (const { before, after } of rows) {
    const known = before?.link === "joined" && before.session === after.session;
    if (after.state === "merged" && !known && after.session !== null) sessions.add(after.session);
  }
  const firsts = await firstRequests(tx, [...sessions]);
  return rows.map(({ before, after }) => linkAfter(before, after, firsts.get(after.session ?? "") ?? null));
}

/** When the first recorded call of each session began; unknown sessions have no entry. */
async function firstRequests(tx: Transaction, sessions: readonly string[]): Promise<Map<string, string>> {
  if (sessions.length === 0) return new Map();
  const rows = await tx.execute<{ session: string; at: string }>(sql`
    select s.session, r.started_at as at
    from jsonb_array_elements_text(${JSON.stringify(sessions)}::jsonb) as s(session)
    cross join lateral (
      select started_at from requests
      where org_id = ${DEFAULT_ORG} and session = s.session
      order by started_at limit 1
    ) as r`);
  return new Map(rows.map((row) => [row.session, new Date(row.at).toISOString()]));
}

/** The next `limit` pull requests after `after` whose session was unknown, and whether it is known now. */
export async function unknownSessions(
  { sql }: Database,
  after: PullRequestKey,
  limit: number,
): Promise<(PullRequestKey & { known: boolean })[]> {
  const rows = await sql<{ repository_id: string; number: number; known: boolean }[]>`
    select p.repository_id, p.number,
      exists (select from requests r where r.org_id = p.org_id and r.session = p.session) as known
    from pull_requests p
    where p.org_id = ${DEFAULT_ORG} and p.link = 'unknown_session'
      and (p.repository_id, p.number) > (${after.repositoryId}::bigint, ${after.number}::integer)
    order by p.repository_id, p.number
    limit ${limit}`;
  return rows.map((row) => ({
    repositoryId: Number(row.repository_id),
    number: row.number,
    known: row.known,
  }));
}
