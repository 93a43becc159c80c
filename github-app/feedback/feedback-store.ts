import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

type FeedbackKind = "check" | "comment";
export type FeedbackKey = { kind: FeedbackKind; repositoryId: number; number: number };

/** What is shown at GitHub already, as the process that has it in hand knows it. */
export type Shown = {
  remoteId: number | null;
  headSha: string | null;
  seenAt: string | null;
  shown: string | null;
} & Claim;

/** What a process knows of the thing that it has in hand; `busyUntil` tells its hold from every other's. */
export type Claim = { attempts: number; busyUntil: string };

/** Long enough for all that GitHub is asked about one pull request; see `CLAIM_MS_MAX`. */
const BUSY_MS = 90_000;
/** A process gives up before another may take over, so that no two write the same. */
export const CLAIM_MS_MAX = 60_000;

const RETRY_MS = 60_000;
const RETRY_MS_MAX = 6 * 3_600_000;

/**
 * When to try again after so many failures. Never sooner than a request that was cut off may still take effect at
 * GitHub, so that the next try finds what it made.
 */
export const retryAt = (now: Date, attempts: number): string =>
  new Date(now.getTime() + Math.min(RETRY_MS * 2 ** Math.min(attempts, 12), RETRY_MS_MAX)).toISOString();

export const busyUntil = (now: Date): string => new Date(now.getTime() + BUSY_MS).toISOString();

/** Takes a pull request's feedback in hand; null where another process has it, or it is not to be tried yet. */
export async function claimFeedback(
  { sql }: Database,
  { kind, repositoryId, number }: FeedbackKey,
  now: Date,
): Promise<Shown | null> {
  const at = now.toISOString();
  const until = busyUntil(now);
  const [row] = await sql<
    {
      remote_id: string | null;
      head_sha: string | null;
      seen_at: Date | null;
      shown: string | null;
      attempts: number;
    }[]
  >`
    insert into github_feedback as f (org_id, kind, repository_id, number, busy_until)
    values (${DEFAULT_ORG}, ${kind}, ${repositoryId}, ${number}, ${until}::timestamptz)
    on conflict (org_id, kind, repository_id, number) do update set busy_until = excluded.busy_until
    where coalesce(f.busy_until, '-infinity') <= ${at}::timestamptz
      and coalesce(f.next_attempt_at, '-infinity') <= ${at}::timestamptz
    returning remote_id, head_sha, seen_at, shown, attempts`;
  if (!row) return null;
  return {
    remoteId: row.remote_id === null ? null : Number(row.remote_id),
    headSha: row.head_sha,
    seenAt: row.seen_at?.toISOString() ?? null,
    shown: row.shown,
    attempts: row.attempts,
    busyUntil: until,
  };
}

export type Settled = Pick<Shown, "remoteId" | "headSha" | "seenAt" | "shown">;

/** Keeps what GitHub shows now, and gives the pull request out of hand; nothing, if it is not in hand any more. */
export async function settleFeedback(
  { sql }: Database,
  { kind, repositoryId, number }: FeedbackKey,
  claim: Claim,
  { remoteId, headSha, seenAt, shown, now }: Settled & { now: Date },
): Promise<void> {
  await sql`
    update github_feedback set remote_id = ${remoteId}, head_sha = ${headSha}, seen_at = ${seenAt}::timestamptz,
      shown_at = case when shown is distinct from ${shown} then ${now.toISOString()}::timestamptz else shown_at end,
      shown = ${shown}, busy_until = null, attempts = 0, next_attempt_at = null, failure = null
    where org_id = ${DEFAULT_ORG} and kind = ${kind} and repository_id = ${repositoryId} and number = ${number}
      and busy_until = ${claim.busyUntil}::timestamptz`;
}

export type Failed = { failure: string; nextAttemptAt: string };

/** Notes a failed try by its class, and when the next one may be made. */
export async function failFeedback(
  { sql }: Database,
  { kind, repositoryId, number }: FeedbackKey,
  claim: Claim,
  { failure, nextAttemptAt }: Failed,
): Promise<void> {
  await sql`
    update github_feedback set busy_until = null, attempts = least(attempts + 1, 1000), failure = ${failure},
      next_attempt_at = ${nextAttemptAt}::timestamptz
    where org_id = ${DEFAULT_ORG} and kind = ${kind} and repository_id = ${repositoryId} and number = ${number}
      and busy_until = ${claim.busyUntil}::timestamptz`;
}
