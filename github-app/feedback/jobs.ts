import type { Database } from "#drizzle/database.ts";
import type { CommitClaim } from "#drizzle/schema/feedback.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { failureClass } from "../failure-class.ts";
import { type Github, statusOf } from "../github/octokit.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import {
  claimDigest,
  type DigestDue,
  digestIssuesDue,
  failDigest,
  settleDigest,
  writeDigestIssue,
} from "./digest-issue.ts";
import { type CheckDue, type CommentDue, checksDue, commentsDue, expectComments, type Place } from "./due.ts";
import {
  type Claim,
  claimFeedback,
  type Failed,
  failFeedback,
  retryAt,
  type Settled,
  type Shown,
  settleFeedback,
} from "./feedback-store.ts";
import { heldSince, type JobRun } from "./job-run.ts";
import { createAllowance, createPauses, type Pauses } from "./pauses.ts";
import { claimCommits, commitsDue, failCommits, readCommits, settleCommits } from "./read-commits.ts";
import { showCheck } from "./show-check.ts";
import { showComment } from "./show-comment.ts";

export type JobsDeps = {
  database: Database;
  clock: Clock;
  log: Log;
  appId: number;
  /** GitHub as an installation sees it. */
  github(installationId: number): Github;
};

export type Jobs = {
  /** Does all that is due now. */
  round(): Promise<void>;
  /** Resolves when the job in hand is done. */
  stop(): Promise<void>;
};

const ROUND_MS = 5_000;
/** Commits read a minute: a third of what GitHub grants an installation at least, so that the rest is left to others. */
const COMMITS_PER_MINUTE = 25;
/** Where all commits are read: looking for unread ones goes through all merges, and is in no hurry. */
const COMMITS_AGAIN_MS = 30_000;

/**
 * One kind of thing that the App does at GitHub for a pull request. `claim` takes it for this process or gives null;
 * `run` does it; `settle` and `fail` keep what came of it and give it back.
 */
type Job<Due extends Place, Claimed extends Claim, Result> = {
  kind: string;
  claim(due: Due, now: Date): Promise<Claimed | null>;
  run(run: JobRun, due: Due, claimed: Claimed): Promise<Result>;
  settle(due: Due, claimed: Claimed, result: Result, now: Date): Promise<void>;
  fail(due: Due, claimed: Claimed, failed: Failed): Promise<void>;
};

type Round = JobsDeps & { pauses: Pauses; stopping: () => boolean };

/**
 * Does at GitHub, while pull-request stamping is on, what is asked for there: reads the commits of merges, and shows
 * check runs, comments and digests where the settings say so. Any number of processes may do so at once.
 */
export function startJobs(deps: JobsDeps, roundMs = ROUND_MS): Jobs {
  let stopping = false;
  const round: Round = { ...deps, pauses: createPauses(deps.clock), stopping: () => stopping };
  let commitsAtMs = Number.NEGATIVE_INFINITY;
  const mayRead = createAllowance(deps.clock, COMMITS_PER_MINUTE);
  const doRound = async () => {
    const now = deps.clock.now();
    const set = await readAppSettings(deps.database);
    if (!set.pull_request_stamping) return;
    if (set.pull_request_check) await each(round, checks(deps), await checksDue(deps.database, now));
    if (set.pull_request_comment) {
      await expectComments(deps.database, now);
      await each(round, comments(deps), await commentsDue(deps.database, now));
    }
    if (set.digest_repository !== null) {
      await each(round, issues(deps), await digestIssuesDue(deps.database, set.digest_repository, now));
    }
    if (deps.clock.monotonicMs() < commitsAtMs) return;
    const unread = await commitsDue(deps.database, now);
    if (unread.length === 0) commitsAtMs = deps.clock.monotonicMs() + COMMITS_AGAIN_MS;
    await each(round, commits(deps), unread.filter(mayRead));
  };
  const run = async () => {
    while (!stopping) {
      await doRound().catch((error) => {
        deps.log.warn({ failure: failureClass(error) }, "jobs at GitHub have to wait");
      });
      for (let waited = 0; waited < roundMs && !stopping; waited += 50) await Bun.sleep(50);
    }
  };
  const done = roundMs === Number.POSITIVE_INFINITY ? Promise.resolve() : run();
  return {
    round: doRound,
    stop: () => {
      stopping = true;
      return done;
    },
  };
}

async function each<Due extends Place, Claimed extends Claim, Result>(
  { clock, log, appId, github, pauses, stopping }: Round,
  job: Job<Due, Claimed, Result>,
  dues: readonly Due[],
): Promise<void> {
  for (const due of dues) {
    if (stopping()) return;
    if (pauses.holds(job.kind, due.installationId)) continue;
    const now = clock.now();
    const held = heldSince(() => clock.monotonicMs(), clock.monotonicMs());
    const claimed = await job.claim(due, now);
    if (claimed === null) continue;
    try {
      const run = { octokit: github(due.installationId), appId, now, held };
      await job.settle(due, claimed, await job.run(run, due, claimed), clock.now());
    } catch (error) {
      pauses.learn(error, job.kind, due.installationId);
      const failure = failureClass(error);
      const { repositoryId, number } = due;
      const status = statusOf(error);
      log.warn({ job: job.kind, repositoryId, number, failure, status }, "a job at GitHub failed");
      await job.fail(due, claimed, { failure, nextAttemptAt: retryAt(clock.now(), claimed.attempts) });
    }
  }
}

const checks = ({ database }: JobsDeps): Job<CheckDue, Shown, Settled> => ({
  kind: "check",
  claim: (due, now) => claimFeedback(database, { ...due, kind: "check" }, now),
  run: showCheck,
  settle: (due, held, result, now) =>
    settleFeedback(database, { ...due, kind: "check" }, held, { ...result, now }),
  fail: (due, held, failed) => failFeedback(database, { ...due, kind: "check" }, held, failed),
});

const comments = ({ database }: JobsDeps): Job<CommentDue, Shown, Settled> => ({
  kind: "comment",
  claim: (due, now) => claimFeedback(database, { ...due, kind: "comment" }, now),
  run: (run, due, before) => showComment({ ...run, database }, due, before),
  settle: (due, held, result, now) =>
    settleFeedback(database, { ...due, kind: "comment" }, held, { ...result, now }),
  fail: (due, held, failed) => failFeedback(database, { ...due, kind: "comment" }, held, failed),
});

const issues = ({ database }: JobsDeps): Job<DigestDue, Claim, number> => ({
  kind: "digest",
  claim: (due, now) => claimDigest(database, due, now),
  run: writeDigestIssue,
  settle: (due, held, issue, now) => settleDigest(database, due, held, { issue, now }),
  fail: (due, held, failed) => failDigest(database, due, held, failed),
});

const commits = ({ database }: JobsDeps): Job<Place, Claim, CommitClaim[]> => ({
  kind: "commits",
  claim: (due, now) => claimCommits(database, due, now),
  run: readCommits,
  settle: (due, held, claims, now) => settleCommits(database, due, held, { claims, now }),
  fail: (due, held, failed) => failCommits(database, due, held, failed),
});
