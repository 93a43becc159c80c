import { isNull, sql } from "drizzle-orm";
import { takeRowLease } from "#drizzle/leases/lease.ts";
import { pullRequestCommits } from "#drizzle/schema/feedback.ts";
import { readCommitClaims } from "../facts/revert.ts";
import { type Job, type JobDeps, LEASE_MS, unlessGone, type Work } from "./job.ts";
import { type FeedbackPlace, INSTALLED, isDueOf, type PlaceRow, placeOf } from "./place.ts";

type CommitsRow = typeof pullRequestCommits.$inferSelect;

const BATCH = 50;

/** Reads the reverts that commits of each merged pull request claim. */
export const commits = (deps: JobDeps): Job<FeedbackPlace, CommitsRow> => ({
  kind: "commits",
  isWanted: () => true,
  due: (now, _settings, waiting) => commitsDue(deps, now, waiting),
  take: ({ repositoryId, number }) => {
    const row = { repositoryId, number, claims: [] };
    const where = isNull(pullRequestCommits.readAt);
    return takeRowLease(deps, pullRequestCommits, { row, where, leaseMs: LEASE_MS });
  },
  run: readCommits,
});

/** Merged pull requests whose commits are unread, latest merge first. */
async function commitsDue({ database }: JobDeps, now: Date, waiting: readonly number[]) {
  const rows = await database.db.execute<PlaceRow>(sql`
    select p.repository_id, p.number, r.full_name, r.installation_id
    from pull_requests p ${INSTALLED}
    left join pull_request_commits f on f.org_id = p.org_id and f.repository_id = p.repository_id
      and f.number = p.number
    where ${isDueOf(now, waiting)} and p.merged_at is not null and f.read_at is null
    order by p.merged_at desc, p.repository_id, p.number
    limit ${BATCH}`);
  return rows.map(placeOf);
}

/** GitHub lists 250 commits; none where the pull request is gone. */
async function readCommits({ octokit, due, now }: Work<FeedbackPlace, CommitsRow>) {
  const listed = await unlessGone(
    octokit.paginate(octokit.rest.pulls.listCommits, {
      owner: due.owner,
      repo: due.repo,
      pull_number: due.number,
      per_page: 100,
    }),
  );
  const messages = (listed ?? []).map(({ sha, commit }) => ({ sha, message: commit.message }));
  return { claims: readCommitClaims(messages), readAt: now.toISOString() };
}
