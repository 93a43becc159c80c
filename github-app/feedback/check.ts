import { sql } from "drizzle-orm";
import { hasCalls, isClaim } from "#drizzle/claims.ts";
import { takeRowLease } from "#drizzle/leases/lease.ts";
import { githubFeedback } from "#drizzle/schema/feedback.ts";
import type { LinkEvidence } from "#drizzle/schema/github.ts";
import { pullRequestCosts, pullRequestName } from "#drizzle/session-cost.ts";
import { costNotes } from "#shared/shared-session.ts";
import { checkText } from "./check-text.ts";
import { type Job, type JobDeps, LEASE_MS, ONCE, unlessGone, type Work } from "./job.ts";
import {
  type DueIn,
  type FeedbackPlace,
  hoursAgo,
  INSTALLED,
  isConfidential,
  isDueOf,
  isShown,
  type PlaceRow,
  placeOf,
  SHARED_BY,
} from "./place.ts";

const NAME = "Gateway-Session";
/** For this long after its merge, a pull request's check run is kept up to date. */
const DAYS = 7;
/** What it says about the cost is brought up to date after this time: calls, merges, prices and batches change it. */
const AGAIN_MS = 3_600_000;
const BATCH = 20;

/** Also what comments keep. */
export type FeedbackRow = typeof githubFeedback.$inferSelect;

type CheckDue = FeedbackPlace & {
  session: string | null;
  isMerged: boolean;
  sharedBy: number;
  sessionIds: string[];
  diagnostics: string[];
  /** Null: it must not be shown here. */
  known: boolean | null;
  /** `updated_at` of the pull request as last reported. */
  bodyAt: string;
  /** A key of the text to show but what it says about the cost: the same key means the same text. */
  wanted: string;
};

/** The check run of each pull request that is open or was just merged. */
export const checks = (deps: JobDeps): Job<CheckDue, FeedbackRow> => ({
  kind: "check",
  isWanted: ({ pull_request_check: on }) => on,
  due: (now, settings, waiting) => checksDue(deps, { settings, waiting }, now),
  take: (due) => takeFeedback(deps, "check", due),
  run: (work) => showCheck(deps, work),
});

export const takeFeedback = (
  deps: JobDeps,
  kind: FeedbackRow["kind"],
  { repositoryId, number }: FeedbackPlace,
) => takeRowLease(deps, githubFeedback, { row: { kind, repositoryId, number }, leaseMs: LEASE_MS });

type CheckRow = PlaceRow & {
  session: string | null;
  is_merged: boolean;
  shared_by: number;
  session_ids: string[];
  evidence: LinkEvidence[];
  known: boolean | null;
  body_at: string;
  wanted: string;
};

/** Pull requests whose check run is missing or outdated. */
async function checksDue({ database }: JobDeps, { settings, waiting }: DueIn, now: Date) {
  const rows = await database.db.execute<CheckRow>(sql`
    select p.repository_id, p.number, r.full_name, r.installation_id, p.session_ids, p.evidence, k.known, p.body_at,
      w.wanted, p.session, p.merged_at is not null as is_merged, ${SHARED_BY} as shared_by
    from pull_requests p ${INSTALLED}
    left join github_feedback f on f.org_id = p.org_id and f.kind = 'check' and f.repository_id = p.repository_id
      and f.number = p.number
    cross join lateral (
      select case when ${isConfidential(settings)} and not ${sql.raw(isClaim("p"))} then p.session is not null and (
        p.link = 'joined' or ${sql.raw(hasCalls("p.session", "p.org_id"))}) end as known
    ) k
    cross join lateral (select coalesce(k.known::text, 'unsaid') || ' ' || coalesce(p.body_sha256, '') as wanted) w
    where ${isDueOf(now, waiting)} and ${isShown(settings)} and p.body_at is not null
      and (${settings.not_stamped_bots} or not p.author_is_bot or cardinality(p.session_ids) > 0)
      and (p.state = 'open' or p.merged_at > ${hoursAgo(now, DAYS * 24)})
      and (split_part(f.shown, '|', 1) is distinct from w.wanted or f.seen_at is distinct from p.body_at
        or k.known and split_part(f.shown, '|', 3) <= ${stampOf(now.getTime() - AGAIN_MS)})
    order by p.body_at desc, p.repository_id, p.number
    limit ${BATCH}`);
  return rows.map((row) => ({
    ...placeOf(row),
    session: row.session,
    isMerged: row.is_merged,
    sharedBy: row.shared_by,
    sessionIds: row.session_ids,
    diagnostics: row.evidence.findLast((it) => it.rule.startsWith("body_"))?.diagnostics ?? [],
    known: row.known,
    bodyAt: new Date(row.body_at).toISOString(),
    wanted: row.wanted,
  }));
}

type CheckWork = Work<CheckDue, FeedbackRow>;

/** A time whose order is that of its text. */
const stampOf = (ms: number): string => new Date(ms).toISOString();

/** What a check run says about the cost of a stamped pull request, as its comment does. */
async function notesOf({ database }: JobDeps, due: CheckDue): Promise<string[]> {
  const cost = due.known ? (await pullRequestCosts(database.db, [due])).get(pullRequestName(due)) : undefined;
  if (!cost) return [];
  const isLowerBound = cost.isLowerBound && cost.costUsd !== null;
  return costNotes({ ...cost, isLowerBound, merged: due.sharedBy, isMerged: due.isMerged });
}

/**
 * Shows the check run on a pull request's present head: created once per head, then edited. GitHub is asked for an
 * existing one before, so that a process that died after creating one causes no second.
 */
async function showCheck(deps: JobDeps, work: CheckWork): Promise<Partial<FeedbackRow>> {
  const { due, lease, octokit } = work;
  const { checks, pulls } = octokit.rest;
  const before = lease.row;
  const notes = await notesOf(deps, due);
  const said = notes.join(" ");
  const [key, saidBefore = ""] = before.shown?.split("|") ?? [];
  const isShown = key === due.wanted && saidBefore === said;
  const seen = `${due.wanted}|${said}|${stampOf(work.now.getTime())}`;
  if (isShown && before.seenAt === due.bodyAt) return { shown: seen };
  const repository = { owner: due.owner, repo: due.repo };
  const { data } = await pulls.get({ ...repository, pull_number: due.number });
  const headSha = data.head.sha;
  const shown = (remoteId: number) => ({
    remoteId,
    headSha,
    seenAt: due.bodyAt,
    shown: seen,
    shownAt: isShown ? before.shownAt : work.now.toISOString(),
  });
  const known = before.headSha === headSha ? before.remoteId : null;
  if (known !== null && isShown) return shown(known);

  const { conclusion, title, summary } = checkText({ ...due, notes });
  const content = { ...repository, status: "completed", conclusion, output: { title, summary } } as const;
  const remoteId = known ?? (await findCheck(work, headSha));
  if (remoteId !== null) {
    const edited = await unlessGone(checks.update({ ...content, check_run_id: remoteId }));
    if (edited) return shown(edited.data.id);
  }
  lease.assertHeld();
  const created = await checks.create({
    ...content,
    ...ONCE,
    name: NAME,
    head_sha: headSha,
    external_id: externalId(due),
  });
  return shown(created.data.id);
}

const externalId = ({ repositoryId, number }: FeedbackPlace): string => `tallygate:${repositoryId}#${number}`;

async function findCheck({ appId, octokit, due }: CheckWork, ref: string): Promise<number | null> {
  const runs = await octokit.paginate(octokit.rest.checks.listForRef, {
    owner: due.owner,
    repo: due.repo,
    ref,
    check_name: NAME,
    app_id: appId,
    per_page: 100,
  });
  return runs.find((it) => it.external_id === externalId(due))?.id ?? null;
}
