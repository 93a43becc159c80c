import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { pullRequests, reviews } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { PullRequestFacts, ReviewFacts } from "../facts/facts.ts";
import { linkAfter } from "../state/link-after.ts";
import { type PullRequestState, pullRequestAfter, type Told } from "../state/pull-request-after.ts";
import { type ReviewState, reviewAfter } from "../state/review-after.ts";
import { excluded } from "./excluded.ts";
import type { Transaction } from "./inbox-store.ts";
import { joinRows } from "./join-rows.ts";

// Every writer locks rows and joins accounts with them (join-rows.ts). Locks are taken in one order: installations,
// repositories, pull requests, reviews, each by its key.

const EXCLUDED_PULL_REQUEST = excluded(pullRequests, ["orgId", "repositoryId", "number"]);
const EXCLUDED_REVIEW = excluded(reviews, ["orgId", "repositoryId", "id"]);

export type PullRequestKey = Pick<PullRequestState, "repositoryId" | "number">;

const keyOf = ({ repositoryId, number }: PullRequestKey) => `${repositoryId}#${number}`;

export async function writePullRequests(
  tx: Transaction,
  told: readonly Told<PullRequestFacts>[],
): Promise<void> {
  await joinRows<Told<PullRequestFacts>, PullRequestState>(told, {
    keyOf: ({ facts }) => keyOf(facts),
    keyOfRow: keyOf,
    lock: (accounts) =>
      lockPullRequests(
        tx,
        accounts.map(({ facts }) => facts),
      ),
    join: pullRequestAfter,
    complete: (rows) => linked(tx, rows),
    insert: (rows) =>
      tx
        .insert(pullRequests)
        .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
        .onConflictDoNothing()
        .returning(),
    update: (rows) => replacePullRequests(tx, rows),
  });
}

/** Looks again for the session of a merged pull request; true when it is known now. */
export async function linkAgain(tx: Transaction, key: PullRequestKey): Promise<boolean> {
  const [before] = await lockPullRequests(tx, [key]);
  if (before?.link !== "unknown_session") return false;
  const [after = before] = await linked(tx, [{ before, after: before }]);
  if (after.link === before.link) return false;
  await replacePullRequests(tx, [after]);
  return true;
}

function lockPullRequests(
  tx: Transaction,
  keys: readonly PullRequestKey[],
): Promise<(typeof pullRequests.$inferSelect)[]> {
  const places = keys.map(({ repositoryId, number }) => sql`(${repositoryId}::bigint, ${number}::integer)`);
  const isOneOf = sql`(${pullRequests.repositoryId}, ${pullRequests.number}) in (${sql.join(places, sql`, `)})`;
  return tx
    .select()
    .from(pullRequests)
    .where(and(eq(pullRequests.orgId, DEFAULT_ORG), isOneOf))
    .orderBy(asc(pullRequests.repositoryId), asc(pullRequests.number))
    .for("update");
}

/** Writes locked rows: each exists, so that every insertion turns into a change. */
async function replacePullRequests(tx: Transaction, rows: readonly PullRequestState[]): Promise<void> {
  await tx
    .insert(pullRequests)
    .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
    .onConflictDoUpdate({
      target: [pullRequests.orgId, pullRequests.repositoryId, pullRequests.number],
      set: EXCLUDED_PULL_REQUEST,
    });
}

/** The rows with their links, which depend on whether a call of the session is known. */
async function linked(
  tx: Transaction,
  rows: readonly { before: PullRequestState | null; after: PullRequestState }[],
): Promise<PullRequestState[]> {
  const asked = new Set<string>();
  for (const { before, after } of rows) {
    const known = before?.link === "joined" && before.session === after.session;
    if (after.state === "merged" && !known && after.session !== null) asked.add(after.session);
  }
  const firsts = await firstRequests(tx, [...asked]);
  return rows.map(({ before, after }) => linkAfter(before, after, firsts.get(after.session ?? "") ?? null));
}

/** When the first recorded call of each session began; of unknown ones there is no entry. */
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

/** A slice of the pull requests whose session was unknown: those after `after`, and which of them is known now. */
export async function sessionsToLookFor(
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

export async function writeReviews(tx: Transaction, facts: readonly ReviewFacts[]): Promise<void> {
  await joinRows<ReviewFacts, ReviewState>(facts, {
    keyOf: (it) => it.id,
    keyOfRow: (row) => row.id,
    lock: (accounts) =>
      tx
        .select()
        .from(reviews)
        .where(
          and(
            eq(reviews.orgId, DEFAULT_ORG),
            inArray(
              reviews.id,
              accounts.map((it) => it.id),
            ),
          ),
        )
        .orderBy(asc(reviews.repositoryId), asc(reviews.id))
        .for("update"),
    join: reviewAfter,
    insert: (rows) =>
      tx
        .insert(reviews)
        .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
        .onConflictDoNothing()
        .returning(),
    update: async (rows) => {
      await tx
        .insert(reviews)
        .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
        .onConflictDoUpdate({
          target: [reviews.orgId, reviews.repositoryId, reviews.id],
          set: EXCLUDED_REVIEW,
        });
    },
  });
}
