import { failureClass } from "#drizzle/leases/failure-class.ts";
import { type Lease, runLeased } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Log } from "#shared/log.ts";
import type { Settings } from "#shared/settings.ts";
import type { Clients } from "../github/clients.ts";
import { lacksPermission, statusOf, waitMsOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { checks } from "./check.ts";
import { comments } from "./comment.ts";
import { commits } from "./commits.ts";
import { digestIssues } from "./digest-issue.ts";
import { isClosedToAll, type Job, type JobDeps } from "./job.ts";
import { createAllowance, createPauses, type Pauses } from "./pauses.ts";
import type { FeedbackPlace } from "./place.ts";

export type FeedbackDeps = JobDeps & {
  log: Log;
  /** Null while the App has no identity on GitHub. */
  clients: () => Clients | null;
};

export const FEEDBACK_TIMING = { pollMs: 5_000 };
/** Reads of commits: a third of the calls that GitHub grants every installation, leaving the rest for other work. */
const COMMITS_PER_MINUTE = 25;
/** Between searches for unread commits once all are read: a search goes through all merges. */
const COMMITS_AGAIN_MS = 30_000;
/** Longer than anything is kept up to date, so that locked conversations are not tried again. */
const CLOSED_MS = 400 * 86_400_000;

export type Feedback = Poller & {
  /** Permissions may have changed: retries at once the work that lacked one. */
  permissionsChanged(): void;
};

/** Does the App's work on GitHub until stopped. Any number of processes may do so at once. */
export function startFeedback(deps: FeedbackDeps, timing = FEEDBACK_TIMING): Feedback {
  const pauses = createPauses(deps.clock);
  const round = createFeedbackRound(deps, pauses);
  const poller = poll({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async (stopping) => {
      await round(stopping);
      return false;
    },
  });
  return {
    ...poller,
    permissionsChanged: () => {
      pauses.clear();
      poller.wake();
    },
  };
}

/** One round while stamping is on: commits of merges, and check runs, comments, digests where settings say so. */
export function createFeedbackRound(
  deps: FeedbackDeps,
  pauses = createPauses(deps.clock),
): (stopping: () => boolean) => Promise<void> {
  const { clock } = deps;
  const mayRead = createAllowance(clock, COMMITS_PER_MINUTE);
  let commitsMs = Number.NEGATIVE_INFINITY;
  const throttledCommits = {
    ...commits(deps),
    due: async (now: Date, settings: Settings, waiting: readonly number[]) => {
      if (clock.monotonicMs() < commitsMs) return [];
      const unread = await commits(deps).due(now, settings, waiting);
      if (unread.length === 0 && waiting.length === 0) commitsMs = clock.monotonicMs() + COMMITS_AGAIN_MS;
      return unread.filter(mayRead);
    },
  };
  return async (stopping) => {
    const clients = deps.clients();
    const settings = await readAppSettings(deps.database);
    if (!clients || !settings.pull_request_stamping) return;
    const round = { ...deps, github: clients, pauses, stopping };
    await doJob(round, checks(deps));
    await doJob(round, comments(deps));
    if (settings.digest_repository !== null) {
      await doJob(round, digestIssues(deps, settings.digest_repository));
    }
    await doJob(round, throttledCommits);
  };
}

type Round = FeedbackDeps & { github: Clients; pauses: Pauses; stopping: () => boolean };

/** Does due work of one kind. Lists are short: one that names waiting installations is followed by one without them. */
async function doJob<Due extends FeedbackPlace, Row extends LeaseState>(round: Round, job: Job<Due, Row>) {
  const { database, clock, github, pauses, stopping } = round;
  const isWanted = (now: Settings) => now.pull_request_stamping && job.isWanted(now);
  const hasToWait = (it: number) => pauses.isPaused(job.kind, it) || github.waitMs(it) > 0;
  const waiting = new Set<number>();
  for (let known = -1; known < waiting.size; ) {
    known = waiting.size;
    const settings = await readAppSettings(database);
    if (!isWanted(settings)) return;
    for (const due of await job.due(clock.now(), settings, [...waiting])) {
      // Read before each item, so that switching off takes effect at once.
      if (hasToWait(due.installationId)) waiting.add(due.installationId);
      else if (stopping() || !isWanted(await readAppSettings(database))) return;
      else await doOne(round, job, due);
    }
  }
}

async function doOne<Due extends FeedbackPlace, Row extends LeaseState>(
  { clock, log, github, pauses }: Round,
  job: Job<Due, Row>,
  due: Due,
): Promise<void> {
  const { installationId, repositoryId, number } = due;
  const lease = await job.take(due);
  if (lease === null) return;
  const octokit = github.installation(installationId);
  const work = { due, lease, octokit, appId: github.appId, now: clock.now() };
  await runLeased(lease, async () => {
    try {
      return await job.run(work);
    } catch (error) {
      pauses.add(error, job.kind, installationId);
      const putOff = putOffOf(error, clock.now());
      const failure = putOff?.failure ?? failureClass(error);
      const fields = { job: job.kind, installationId, repositoryId, number, failure };
      log.warn({ ...fields, status: statusOf(error) }, "a request to GitHub failed");
      if (putOff === null) throw error;
      return laterOf(lease, putOff);
    }
  });
}

/** `until` null: whenever its kind of work continues. */
type PutOff = { failure: string; until: Date | null };

/** Why and until when work waits that did not fail by itself; null: it failed. */
function putOffOf(error: unknown, now: Date): PutOff | null {
  const until = (ms: number) => new Date(now.getTime() + ms);
  if (isClosedToAll(error)) return { failure: "locked", until: until(CLOSED_MS) };
  const waitMs = waitMsOf(error, now);
  if (waitMs !== null) return { failure: "rate_limited", until: until(waitMs) };
  return lacksPermission(error) ? { failure: "missing_permission", until: null } : null;
}

type LeaseState = { attempts: number; failure: string | null; nextAttemptAt: string | null };

/** Keeps the number of attempts, so that a wait does not make the next one longer. */
function laterOf<Row extends LeaseState>({ row }: Lease<Row>, { failure, until }: PutOff): Partial<Row> {
  const kept: LeaseState = { attempts: row.attempts, failure, nextAttemptAt: until?.toISOString() ?? null };
  // Every row of a job has these members.
  return kept as Partial<Row>;
}
