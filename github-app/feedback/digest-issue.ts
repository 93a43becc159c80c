import type { Database } from "#drizzle/database.ts";
import type { Digest } from "#shared/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { free, type Place } from "./due.ts";
import { busyUntil, type Claim, type Failed } from "./feedback-store.ts";
import { type JobRun, ONCE } from "./job-run.ts";

export type DigestDue = Place & { dueOn: string; dueAt: string; content: Digest };

/**
 * Digests that wait to be written as an issue in `repository` (`owner/name`). None where the App is not installed there,
 * which is noted as the failure.
 */
export async function digestIssuesDue(
  database: Database,
  repository: string,
  now: Date,
): Promise<DigestDue[]> {
  const { sql } = database;
  const rows = await sql<
    {
      due_on: string;
      due_at: Date;
      content: Digest;
      id: string | null;
      full_name: string;
      installation_id: string;
    }[]
  >`
    select f.due_on, f.due_at, f.content, r.id, r.full_name, r.installation_id
    from digests f
    left join repositories r on r.org_id = f.org_id and lower(r.full_name) = ${repository.toLowerCase()} and r.covered
      and r.installation_id is not null
    where f.org_id = ${DEFAULT_ORG} and f.channel = 'issue' and f.state = 'waiting' and ${free(database, now)}`;
  const found = rows.filter((row) => row.id !== null);
  if (found.length < rows.length) {
    await sql`
      update digests set failure = 'not installed in the repository', next_attempt_at = ${later(now)}::timestamptz
      where org_id = ${DEFAULT_ORG} and channel = 'issue' and state = 'waiting' and ${found.length} = 0`;
  }
  return found.map((row) => {
    const [owner = "", repo = ""] = row.full_name.split("/");
    return {
      repositoryId: Number(row.id),
      number: 0,
      owner,
      repo,
      installationId: Number(row.installation_id),
      dueOn: row.due_on,
      dueAt: row.due_at.toISOString(),
      content: row.content,
    };
  });
}

const later = (now: Date): string => new Date(now.getTime() + 60_000).toISOString();

export async function claimDigest(
  database: Database,
  { dueOn }: DigestDue,
  now: Date,
): Promise<Claim | null> {
  const { sql } = database;
  const until = busyUntil(now);
  const [row] = await sql<{ attempts: number }[]>`
    update digests f set busy_until = ${until}::timestamptz
    where f.org_id = ${DEFAULT_ORG} and f.due_on = ${dueOn} and f.channel = 'issue' and f.state = 'waiting'
      and ${free(database, now)}
    returning f.attempts`;
  return row ? { attempts: row.attempts, busyUntil: until } : null;
}

export async function settleDigest(
  { sql }: Database,
  { dueOn }: DigestDue,
  claim: Claim,
  { issue, now }: { issue: number; now: Date },
): Promise<void> {
  await sql`
    update digests set state = 'sent', sent_at = ${now.toISOString()}::timestamptz, remote_id = ${issue},
      busy_until = null, next_attempt_at = null, failure = null
    where org_id = ${DEFAULT_ORG} and due_on = ${dueOn} and channel = 'issue'
      and busy_until = ${claim.busyUntil}::timestamptz`;
}

export async function failDigest(
  { sql }: Database,
  { dueOn }: DigestDue,
  claim: Claim,
  { failure, nextAttemptAt }: Failed,
): Promise<void> {
  await sql`
    update digests set busy_until = null, attempts = least(attempts + 1, 1000), failure = ${failure},
      next_attempt_at = ${nextAttemptAt}::timestamptz
    where org_id = ${DEFAULT_ORG} and due_on = ${dueOn} and channel = 'issue'
      and busy_until = ${claim.busyUntil}::timestamptz`;
}

/** Writes the issue, unless GitHub has it already; its number. */
export async function writeDigestIssue(job: JobRun, due: DigestDue): Promise<number> {
  const marker = `<!-- tallygate:digest ${due.dueOn} -->`;
  const known = await findIssue(job, due, marker);
  if (known !== null) return known;
  job.held();
  const { data } = await job.octokit.rest.issues.create({
    owner: due.owner,
    repo: due.repo,
    ...ONCE,
    title: digestTitle(due.content),
    body: `${marker}\n${digestText(due.content)}`,
  });
  return data.number;
}

async function findIssue({ appId, octokit }: JobRun, due: DigestDue, marker: string): Promise<number | null> {
  const issues = await octokit.paginate(octokit.rest.issues.listForRepo, {
    owner: due.owner,
    repo: due.repo,
    state: "all",
    since: due.dueAt,
    per_page: 100,
  });
  const own = issues.find((it) => it.performed_via_github_app?.id === appId && it.body?.startsWith(marker));
  return own?.number ?? null;
}
