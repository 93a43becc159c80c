import { sql } from "drizzle-orm";
import type { LinkState } from "#drizzle/schema/github.ts";
import { pullRequestCosts, pullRequestName } from "#drizzle/session-cost.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type FeedbackRow, takeFeedback } from "./check.ts";
import { COMMENT_MARKER, commentText } from "./comment-text.ts";
import { type Job, type JobDeps, ONCE, unlessGone, type Work } from "./job.ts";
import {
  type DueIn,
  type FeedbackPlace,
  hoursAgo,
  INSTALLED,
  isConfidential,
  isDueOf,
  type PlaceRow,
  placeOf,
  SHARED_BY,
} from "./place.ts";

type CommentDue = FeedbackPlace & { link: LinkState; session: string | null; sharedBy: number };
type CommentWork = Work<CommentDue, FeedbackRow>;

/** Only merges of this age are commented on, so that switching comments on does not reach into the past. */
const FIRST_HOURS = 24;
/** For this long after the merge, the figures of a comment are kept up to date. */
const DAYS = 30;
/** Figures are updated after this time even without new calls, because prices and batches can change them too. */
const AGAIN_HOURS = 1;
const BATCH = 20;

/** The comment on each merged pull request. */
export const comments = (deps: JobDeps): Job<CommentDue, FeedbackRow> => ({
  kind: "comment",
  isWanted: ({ pull_request_comment: on }) => on,
  due: async (now, settings, waiting) => {
    await expectComments(deps, now);
    return commentsDue(deps, { settings, waiting }, now);
  },
  take: (due) => takeFeedback(deps, "comment", due),
  run: (work) => showComment(deps, work),
});

/** Remembers merges of the last day, so that they are commented on once their session is known. */
async function expectComments({ database }: JobDeps, now: Date): Promise<void> {
  await database.db.execute(sql`
    insert into github_feedback (org_id, kind, repository_id, number)
    select p.org_id, 'comment', p.repository_id, p.number
    from pull_requests p ${INSTALLED}
    where p.org_id = ${DEFAULT_ORG} and p.merged_at > ${hoursAgo(now, FIRST_HOURS)}
    on conflict do nothing`);
}

/** Merged pull requests whose comment is missing or may be outdated. */
async function commentsDue({ database }: JobDeps, { settings, waiting }: DueIn, now: Date) {
  const seenAt = sql`coalesce(f.seen_at, '-infinity')`;
  type Row = PlaceRow & { link: LinkState; session: string | null; shared_by: number };
  const rows = await database.db.execute<Row>(sql`
    select p.repository_id, p.number, r.full_name, r.installation_id, p.link, p.session, ${SHARED_BY} as shared_by
    from github_feedback f
    join pull_requests p on p.org_id = f.org_id and p.repository_id = f.repository_id and p.number = f.number
    ${INSTALLED}
    where ${isDueOf(now, waiting)} and ${isConfidential(settings)} and f.kind = 'comment' and p.merged_at > ${hoursAgo(now, DAYS * 24)}
      and case when f.shown is null then p.link = 'joined'
        when split_part(f.shown, ' ', 1) <> p.link || ':' || coalesce(p.session, '') then true
        else ${seenAt} < ${hoursAgo(now, AGAIN_HOURS)} or (
          ${seenAt} < ${hoursAgo(now, 1 / 60)} and exists (
            select from requests q
            where q.org_id = p.org_id and q.session = p.session and q.started_at > f.seen_at - interval '10 minutes')) end
    order by f.seen_at nulls first, p.merged_at desc, p.repository_id, p.number
    limit ${BATCH}`);
  return rows.map((row) => ({
    ...placeOf(row),
    link: row.link,
    session: row.session,
    sharedBy: row.shared_by,
  }));
}

/**
 * Shows the comment on a merged pull request: created once, then edited when its text changes. GitHub is asked for an
 * existing one before, so that a process that died after creating one causes no second. A deleted one is not created
 * again.
 */
async function showComment({ database }: JobDeps, work: CommentWork): Promise<Partial<FeedbackRow>> {
  const { due, lease } = work;
  const before = lease.row;
  const at = work.now.toISOString();
  const figures =
    due.link === "joined"
      ? (await pullRequestCosts(database.db, [due])).get(pullRequestName(due))
      : undefined;
  const body = commentText({ ...due, figures: figures ?? null });
  const shown = `${due.link}:${due.session ?? ""} ${digestOf(body)}`;
  if (before.remoteId !== null && before.shown === shown) return { seenAt: at };
  const shownAt = before.shown === shown ? before.shownAt : at;
  return { seenAt: at, shown, shownAt, remoteId: await write(work, body) };
}

const digestOf = (text: string): string =>
  new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32);

async function write(work: CommentWork, body: string): Promise<number> {
  const { due, lease, octokit } = work;
  const repository = { owner: due.owner, repo: due.repo };
  const remoteId = lease.row.remoteId ?? (await findComment(work));
  if (remoteId !== null) {
    // Gone: someone deleted it, and does not want another.
    await unlessGone(octokit.rest.issues.updateComment({ ...repository, comment_id: remoteId, body }));
    return remoteId;
  }
  lease.assertHeld();
  const created = await octokit.rest.issues.createComment({
    ...repository,
    ...ONCE,
    issue_number: due.number,
    body,
  });
  return created.data.id;
}

/** The App's own comment: anyone could write its first line. */
async function findComment({ appId, octokit, due }: CommentWork): Promise<number | null> {
  const found = await octokit.paginate(octokit.rest.issues.listComments, {
    owner: due.owner,
    repo: due.repo,
    issue_number: due.number,
    per_page: 100,
  });
  const own = found.find(
    (it) => it.performed_via_github_app?.id === appId && it.body?.startsWith(COMMENT_MARKER),
  );
  return own?.id ?? null;
}
