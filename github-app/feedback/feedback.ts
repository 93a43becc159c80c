import { failureClass } from "#drizzle/leases/failure-class.ts";
import { runLeased } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Log } from "#shared/log.ts";
import type { Clients } from "../github/clients.ts";
import { statusOf } from "../github/octokit.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { checks } from "./check.ts";
import { comments } from "./comment.ts";
import { commits } from "./commits.ts";
import { digestIssues } from "./digest-issue.ts";
import type { Job, JobDeps } from "./job.ts";
import { createAllowance, createPauses, type Pauses } from "./pauses.ts";
import type { Place } from "./place.ts";

export type FeedbackDeps = JobDeps & {
  log: Log;
  /** Null while the App has no identity at GitHub. */
  clients: () => Clients | null;
};

const POLL_MS = 5_000;
/** Reads of commits: a third of the calls that GitHub grants every installation, so that the rest is left to others. */
const COMMITS_PER_MINUTE = 25;
/** Between searches for unread commits once all are read: a search goes through all merges. */
const COMMITS_AGAIN_MS = 30_000;

/** Does the App's work at GitHub until stopped. Any number of processes may do so at once. */
export const startFeedback = (deps: FeedbackDeps): Poller => {
  const round = createFeedbackRound(deps);
  return poll({
    log: deps.log,
    pollMs: POLL_MS,
    round: async (stopping) => {
      await round(stopping);
      return false;
    },
  });
};

/**
 * One round of the work at GitHub while pull-request stamping is on: reads commits of merges, and shows check runs,
 * comments and digests where the settings say so.
 */
export function createFeedbackRound(deps: FeedbackDeps): (stopping: () => boolean) => Promise<void> {
  const { clock } = deps;
  const pauses = createPauses(clock);
  const mayRead = createAllowance(clock, COMMITS_PER_MINUTE);
  let commitsMs = Number.NEGATIVE_INFINITY;
  const throttledCommits = {
    ...commits(deps),
    due: async (now: Date) => {
      if (clock.monotonicMs() < commitsMs) return [];
      const unread = await commits(deps).due(now);
      if (unread.length === 0) commitsMs = clock.monotonicMs() + COMMITS_AGAIN_MS;
      return unread.filter(mayRead);
    },
  };
  return async (stopping) => {
    const clients = deps.clients();
    const settings = await readAppSettings(deps.database);
    if (!clients || !settings.pull_request_stamping) return;
    const round = { ...deps, github: clients, pauses, stopping };
    if (settings.pull_request_check) await doJob(round, checks(deps));
    if (settings.pull_request_comment) await doJob(round, comments(deps));
    if (settings.digest_repository !== null) {
      await doJob(round, digestIssues(deps, settings.digest_repository));
    }
    await doJob(round, throttledCommits);
  };
}

type Round = FeedbackDeps & { github: Clients; pauses: Pauses; stopping: () => boolean };

async function doJob<Due extends Place, Row>(
  { clock, log, github, pauses, stopping }: Round,
  job: Job<Due, Row>,
): Promise<void> {
  for (const due of await job.due(clock.now())) {
    if (stopping()) return;
    const { installationId, repositoryId, number } = due;
    if (pauses.isPaused(job.kind, installationId)) continue;
    const lease = await job.take(due);
    if (lease === null) continue;
    const octokit = github.installation(installationId);
    const work = { due, lease, octokit, appId: github.appId, now: clock.now() };
    const failed = await runLeased(lease, () => job.run(work));
    if (failed === null) continue;
    const { error } = failed;
    pauses.add(error, job.kind, installationId);
    const fields = {
      job: job.kind,
      repositoryId,
      number,
      failure: failureClass(error),
      status: statusOf(error),
    };
    log.warn(fields, "work at GitHub failed");
  }
}
