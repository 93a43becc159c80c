import { and, asc, eq, inArray } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { installations, pullRequests, repositories, reviews } from "#drizzle/schema/github.ts";
import { requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { installationAfter, type RepositoryState, repositoryAfter } from "./coverage-after.ts";
import type { InstallationFacts, PullRequestFacts, ReviewFacts, Sighting } from "./facts.ts";
import type { Transaction } from "./inbox-store.ts";
import { linkAfter } from "./link-after.ts";
import { type PullRequestState, pullRequestAfter, type Told } from "./pull-request-after.ts";
import { reviewAfter } from "./review-after.ts";

// Every writer locks the row and joins the account with it, or inserts what the account alone says; if another process
// inserts the row in between, it looks again. So no two accounts of one thing overwrite each other. Locks are taken in
// one order: installation, repositories by id, the rest.

const CHUNK = 500;

export async function writePullRequest(tx: Transaction, told: Told<PullRequestFacts>): Promise<void> {
  const { repositoryId, number } = told.facts;
  for (;;) {
    const before = await lockPullRequest(tx, { repositoryId, number });
    const after = await linked(tx, before, pullRequestAfter(before, told));
    if (before) return replace(tx, after);
    const inserted = await tx
      .insert(pullRequests)
      .values({ orgId: DEFAULT_ORG, ...after })
      .onConflictDoNothing()
      .returning({ number: pullRequests.number });
    if (inserted.length > 0) return;
  }
}

/** Looks again for the session of a merged pull request; true when it is known now. */
export async function linkAgain(tx: Transaction, key: PullRequestKey): Promise<boolean> {
  const before = await lockPullRequest(tx, key);
  if (before?.link !== "unknown_session") return false;
  const after = await linked(tx, before, before);
  if (after.link === before.link) return false;
  await replace(tx, after);
  return true;
}

export type PullRequestKey = Pick<PullRequestState, "repositoryId" | "number">;

const isPullRequest = ({ repositoryId, number }: PullRequestKey) =>
  and(
    eq(pullRequests.orgId, DEFAULT_ORG),
    eq(pullRequests.repositoryId, repositoryId),
    eq(pullRequests.number, number),
  );

async function lockPullRequest(tx: Transaction, key: PullRequestKey): Promise<PullRequestState | null> {
  const [row] = await tx.select().from(pullRequests).where(isPullRequest(key)).for("update");
  return row ?? null;
}

async function replace(tx: Transaction, state: PullRequestState): Promise<void> {
  await tx.update(pullRequests).set(state).where(isPullRequest(state));
}

async function linked(
  tx: Transaction,
  before: PullRequestState | null,
  after: PullRequestState,
): Promise<PullRequestState> {
  const known = before?.link === "joined" && before.session === after.session;
  const asked = after.state === "merged" && !known ? after.session : null;
  return linkAfter(before, after, asked === null ? null : await firstRequestAt(tx, asked));
}

async function firstRequestAt(tx: Transaction, session: string): Promise<string | null> {
  const [first] = await tx
    .select({ at: requests.startedAt })
    .from(requests)
    .where(and(eq(requests.orgId, DEFAULT_ORG), eq(requests.session, session)))
    .orderBy(asc(requests.startedAt))
    .limit(1);
  return first?.at ?? null;
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

export async function writeReview(tx: Transaction, facts: ReviewFacts): Promise<void> {
  const isReview = and(
    eq(reviews.orgId, DEFAULT_ORG),
    eq(reviews.repositoryId, facts.repositoryId),
    eq(reviews.id, facts.id),
  );
  for (;;) {
    const [before = null] = await tx.select().from(reviews).where(isReview).for("update");
    const after = reviewAfter(before, facts);
    if (before) {
      await tx.update(reviews).set(after).where(isReview);
      return;
    }
    const inserted = await tx
      .insert(reviews)
      .values({ orgId: DEFAULT_ORG, ...after })
      .onConflictDoNothing()
      .returning({ id: reviews.id });
    if (inserted.length > 0) return;
  }
}

export async function writeInstallation(tx: Transaction, facts: InstallationFacts): Promise<void> {
  const id = facts.installation.id;
  await joinInstallation(tx, facts);
  if (facts.state === "removed") {
    await tx
      .update(repositories)
      .set({ covered: false })
      .where(and(eq(repositories.orgId, DEFAULT_ORG), eq(repositories.installationId, id)));
  }
}

async function joinInstallation(tx: Transaction, facts: InstallationFacts): Promise<void> {
  const isInstallation = and(
    eq(installations.orgId, DEFAULT_ORG),
    eq(installations.id, facts.installation.id),
  );
  for (;;) {
    const [before = null] = await tx.select().from(installations).where(isInstallation).for("update");
    const after = installationAfter(before, facts);
    if (before) {
      await tx.update(installations).set(after).where(isInstallation);
      return;
    }
    const inserted = await tx
      .insert(installations)
      .values({ orgId: DEFAULT_ORG, ...after })
      .onConflictDoNothing()
      .returning({ id: installations.id });
    if (inserted.length > 0) return;
  }
}

/** Keeps names, installation and coverage of the repositories that a delivery showed. */
export async function writeSightings(tx: Transaction, sightings: readonly Sighting[]): Promise<void> {
  const sorted = [...sightings].sort((a, b) => a.id - b.id);
  const removed = await removedInstallations(tx, sorted);
  const isRemoved = (it: Sighting) => it.installationId !== null && removed.has(it.installationId);
  for (let start = 0; start < sorted.length; start += CHUNK) {
    let left = sorted.slice(start, start + CHUNK);
    while (left.length > 0) left = await joinRepositories(tx, left, isRemoved);
  }
}

async function removedInstallations(tx: Transaction, sightings: readonly Sighting[]): Promise<Set<number>> {
  const ids = [...new Set(sightings.flatMap((it) => it.installationId ?? []))];
  if (ids.length === 0) return new Set();
  const rows = await tx
    .select({ id: installations.id, state: installations.state })
    .from(installations)
    .where(and(eq(installations.orgId, DEFAULT_ORG), inArray(installations.id, ids)))
    .orderBy(asc(installations.id))
    .for("share");
  return new Set(rows.filter((row) => row.state === "removed").map((row) => row.id));
}

/** Joins the sightings with the repositories' rows; gives back those that another process inserted meanwhile. */
async function joinRepositories(
  tx: Transaction,
  sightings: readonly Sighting[],
  isRemoved: (it: Sighting) => boolean,
): Promise<Sighting[]> {
  const ids = sightings.map((it) => it.id);
  const rows = await tx
    .select()
    .from(repositories)
    .where(and(eq(repositories.orgId, DEFAULT_ORG), inArray(repositories.id, ids)))
    .orderBy(asc(repositories.id))
    .for("update");
  const states = new Map<number, RepositoryState>(rows.map((row) => [row.id, row]));
  const fresh = sightings.filter((it) => !states.has(it.id));
  for (const it of sightings.filter((one) => states.has(one.id))) {
    const after = repositoryAfter(states.get(it.id) ?? null, it, isRemoved(it));
    states.set(it.id, after);
    await tx
      .update(repositories)
      .set(after)
      .where(and(eq(repositories.orgId, DEFAULT_ORG), eq(repositories.id, it.id)));
  }
  if (fresh.length === 0) return [];
  const inserted = await tx
    .insert(repositories)
    .values(fresh.map((it) => ({ orgId: DEFAULT_ORG, ...repositoryAfter(null, it, isRemoved(it)) })))
    .onConflictDoNothing()
    .returning({ id: repositories.id });
  const written = new Set(inserted.map((row) => row.id));
  return fresh.filter((it) => !written.has(it.id));
}
