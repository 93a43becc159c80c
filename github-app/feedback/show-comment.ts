import type { Database } from "#drizzle/database.ts";
import { sessionCost } from "#drizzle/session-cost.ts";
import { COMMENT_MARKER, commentText } from "./comment-text.ts";
import type { CommentDue } from "./due.ts";
import type { Settled, Shown } from "./feedback-store.ts";
import { type JobRun, ONCE, unlessGone } from "./job-run.ts";

type CommentRun = JobRun & { database: Database };

/**
 * Shows the comment on a merged pull request: made once, then edited when what it says changes. Before one is made
 * GitHub is asked for it, so that a process that died after making one leaves no second. One that was deleted is not
 * made again.
 */
export async function showComment(job: CommentRun, due: CommentDue, before: Shown): Promise<Settled> {
  const kept = { remoteId: before.remoteId, headSha: null, seenAt: job.now.toISOString() };
  const figures =
    due.session === null || due.link !== "joined" ? null : await sessionCost(job.database.db, due.session);
  const body = commentText({ ...due, figures });
  const shown = `${due.link}:${due.session ?? ""} ${digestOf(body)}`;
  if (before.remoteId !== null && before.shown === shown) return { ...kept, shown };
  return { ...kept, shown, remoteId: await write(job, due, before.remoteId, body) };
}

const digestOf = (text: string): string =>
  new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32);

async function write(job: JobRun, due: CommentDue, known: number | null, body: string): Promise<number> {
  const { issues } = job.octokit.rest;
  const place = { owner: due.owner, repo: due.repo };
  const remoteId = known ?? (await findComment(job, due));
  if (remoteId !== null) {
    // Gone: somebody deleted it, and does not want another.
    await unlessGone(issues.updateComment({ ...place, comment_id: remoteId, body }));
    return remoteId;
  }
  job.held();
  const made = await issues.createComment({ ...place, ...ONCE, issue_number: due.number, body });
  return made.data.id;
}

/** The App's own comment: anybody could write its first line. */
async function findComment({ appId, octokit }: JobRun, due: CommentDue): Promise<number | null> {
  const comments = await octokit.paginate(octokit.rest.issues.listComments, {
    owner: due.owner,
    repo: due.repo,
    issue_number: due.number,
    per_page: 100,
  });
  const own = comments.find(
    (it) => it.performed_via_github_app?.id === appId && it.body?.startsWith(COMMENT_MARKER),
  );
  return own?.id ?? null;
}
