import type { Database } from "#drizzle/database.ts";
import type { CommitClaim } from "#drizzle/schema/feedback.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { readCommitClaims } from "../facts/revert.ts";
import { free, installed, type Place, type PlaceRow, placeOf } from "./due.ts";
import { busyUntil, type Claim, type Failed } from "./feedback-store.ts";
import { type JobRun, unlessGone } from "./job-run.ts";

const DUE_MAX = 50;

/** Merged pull requests whose commits were not read yet, the latest merge first. */
export async function commitsDue(database: Database, now: Date): Promise<Place[]> {
  const { sql } = database;
  const rows = await sql<PlaceRow[]>`
    select p.repository_id, p.number, r.full_name, r.installation_id
    from pull_requests p ${installed(database)}
    left join pull_request_commits f on f.org_id = p.org_id and f.repository_id = p.repository_id
      and f.number = p.number
    where p.org_id = ${DEFAULT_ORG} and p.merged_at is not null and f.read_at is null
      and ${free(database, now)}
    order by p.merged_at desc, p.repository_id, p.number
    limit ${DUE_MAX}`;
  return rows.map(placeOf);
}

type Key = Pick<Place, "repositoryId" | "number">;

/** Takes a pull request's commits in hand; null where another process has them, or they were read. */
export async function claimCommits(
  { sql }: Database,
  { repositoryId, number }: Key,
  now: Date,
): Promise<Claim | null> {
  const until = busyUntil(now);
  const [row] = await sql<{ attempts: number }[]>`
    insert into pull_request_commits as f (org_id, repository_id, number, claims, busy_until)
    values (${DEFAULT_ORG}, ${repositoryId}, ${number}, '[]', ${until}::timestamptz)
    on conflict (org_id, repository_id, number) do update set busy_until = excluded.busy_until
    where f.read_at is null and coalesce(f.busy_until, '-infinity') <= ${now.toISOString()}::timestamptz
    returning attempts`;
  return row ? { attempts: row.attempts, busyUntil: until } : null;
}

export async function settleCommits(
  { sql }: Database,
  { repositoryId, number }: Key,
  claim: Claim,
  { claims, now }: { claims: readonly CommitClaim[]; now: Date },
): Promise<void> {
  await sql`
    update pull_request_commits set claims = ${sql.json([...claims])}, read_at = ${now.toISOString()}::timestamptz,
      busy_until = null, next_attempt_at = null, failure = null
    where org_id = ${DEFAULT_ORG} and repository_id = ${repositoryId} and number = ${number}
      and busy_until = ${claim.busyUntil}::timestamptz`;
}

export async function failCommits(
  { sql }: Database,
  { repositoryId, number }: Key,
  claim: Claim,
  { failure, nextAttemptAt }: Failed,
): Promise<void> {
  await sql`
    update pull_request_commits set busy_until = null, attempts = least(attempts + 1, 1000), failure = ${failure},
      next_attempt_at = ${nextAttemptAt}::timestamptz
    where org_id = ${DEFAULT_ORG} and repository_id = ${repositoryId} and number = ${number}
      and busy_until = ${claim.busyUntil}::timestamptz`;
}

/** What the commits of a pull request say that they revert; GitHub lists 250 of them. None where it is gone. */
export async function readCommits({ octokit }: JobRun, place: Place): Promise<CommitClaim[]> {
  const commits = await unlessGone(
    octokit.paginate(octokit.rest.pulls.listCommits, {
      owner: place.owner,
      repo: place.repo,
      pull_number: place.number,
      per_page: 100,
    }),
  );
  return readCommitClaims((commits ?? []).map(({ sha, commit }) => ({ sha, message: commit.message })));
}
