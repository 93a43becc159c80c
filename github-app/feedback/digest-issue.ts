import { and, eq, sql } from "drizzle-orm";
import { isDue, takeLease } from "#drizzle/leases/lease.ts";
import { digests } from "#drizzle/schema/feedback.ts";
import type { Digest } from "#shared/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Settings } from "#shared/settings.ts";
import { type Job, type JobDeps, LEASE_MS, ONCE, type Work } from "./job.ts";
import { type FeedbackPlace, isConfidential, type PlaceRow, placeOf } from "./place.ts";

type DigestRow = typeof digests.$inferSelect;
type DigestDue = FeedbackPlace & { dueOn: string; dueAt: string; content: Digest };
type DigestWork = Work<DigestDue, DigestRow>;

/** The weekly digest as an issue in `repository` (`owner/name`). */
export const digestIssues = (deps: JobDeps, repository: string): Job<DigestDue, DigestRow> => ({
  kind: "digest",
  isWanted: ({ digest_repository: present }) => present === repository,
  due: (now, settings) => digestsDue(deps, { repository, settings }, now),
  take: ({ dueOn }) => takeLease(deps, digests, { where: waitingOn(dueOn), leaseMs: LEASE_MS }),
  run: async (work) => ({
    state: "sent",
    sentAt: work.now.toISOString(),
    remoteId: await writeIssue(work),
  }),
});

const waitingOn = (dueOn: string) =>
  and(
    eq(digests.orgId, DEFAULT_ORG),
    eq(digests.dueOn, dueOn),
    eq(digests.channel, "issue"),
    eq(digests.state, "waiting"),
  );

/** Digests to write. If the App is not installed there, or the repository is public, records that as the failure. */
async function digestsDue(
  { database }: JobDeps,
  { repository, settings }: { repository: string; settings: Settings },
  now: Date,
): Promise<DigestDue[]> {
  type Row = Omit<PlaceRow, "repository_id"> & {
    repository_id: string | null;
    due_on: string;
    due_at: string;
    content: Digest;
    confidential: boolean | null;
  };
  const rows = await database.db.execute<Row>(sql`
    select f.due_on, f.due_at, f.content, r.id as repository_id, 0 as number, r.full_name, r.installation_id,
      ${isConfidential(settings)} as confidential
    from digests f
    left join repositories r on r.org_id = f.org_id and lower(r.full_name) = ${repository.toLowerCase()} and r.covered
      and r.installation_id is not null
    where f.org_id = ${DEFAULT_ORG} and f.channel = 'issue' and f.state = 'waiting' and ${isDue("f", now)}`);
  const due: DigestDue[] = [];
  for (const row of rows) {
    const { repository_id, due_on: dueOn, content } = row;
    if (repository_id === null) await noteHeldUp({ database }, { dueOn, failure: NOT_INSTALLED }, now);
    else if (!row.confidential) await noteHeldUp({ database }, { dueOn, failure: PUBLIC }, now);
    else
      due.push({
        ...placeOf({ ...row, repository_id }),
        dueOn,
        dueAt: new Date(row.due_at).toISOString(),
        content,
      });
  }
  return due;
}

const NOT_INSTALLED = "not installed in the repository";
const PUBLIC = "the repository is public";

async function noteHeldUp(
  { database }: Pick<JobDeps, "database">,
  { dueOn, failure }: { dueOn: string; failure: string },
  now: Date,
) {
  const nextAttemptAt = new Date(now.getTime() + 60_000).toISOString();
  await database.db.update(digests).set({ failure, nextAttemptAt }).where(waitingOn(dueOn));
}

/** Creates the issue, unless it exists. @returns its number. */
async function writeIssue(work: DigestWork): Promise<number> {
  const { due, lease, octokit } = work;
  const marker = `<!-- tallygate:digest ${due.dueOn} -->`;
  const known = await findIssue(work, marker);
  if (known !== null) return known;
  lease.assertHeld();
  const { data } = await octokit.rest.issues.create({
    owner: due.owner,
    repo: due.repo,
    ...ONCE,
    title: digestTitle(due.content),
    body: `${marker}\n${digestText(due.content)}`,
  });
  return data.number;
}

async function findIssue({ appId, octokit, due }: DigestWork, marker: string): Promise<number | null> {
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
