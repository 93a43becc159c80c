import type { Database } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { takeRowLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { githubTasks } from "#drizzle/schema/github-app.ts";
import type { Ambient } from "#shared/clock.ts";
import type { Settings } from "#shared/settings.ts";
import type { Clients } from "../github/clients.ts";
import { statusOf, waitMsOf } from "../github/wait.ts";
import { type DuePass, nextPass, postponePasses, savePass } from "../stores/pass-store.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { readInstallations } from "./installations.ts";
import { createRepositoryLists, type RepositoryLists } from "./repository-lists.ts";
import { type StepResult, step } from "./step.ts";

export type ReconcilerDeps = Ambient & {
  database: Database;
  /** Null while the App has no identity on GitHub. */
  clients: () => Clients | null;
  /** Counts items read from GitHub. */
  count: (of: "pulls" | "reviews", by: number) => void;
};

export const RECONCILE_TIMING = {
  /** Between looks for due passes. */
  pollMs: 5_000,
  /** Between reads of installations and repositories. */
  installationsMs: 15 * 60_000,
  /** A round reads repositories for this long; then it checks whether installations are due. */
  roundMs: 30_000,
  /** Between the passes of one repository. */
  passMs: 60 * 60_000,
  /** After a failure. */
  retryMs: 5 * 60_000,
  /** After a process died, the others wait this long. */
  leaseMs: 60_000,
};

/** The share of an installation's calls that is left to the App's other tasks. */
const RESERVE = 0.05;
const RESERVE_WAIT_MS = 5 * 60_000;
const PAGES_PER_LINE = 10;
/** After a failure that is not GitHub's, such as a deadlock. */
const SOON_MS = 10_000;
/** The longest `pull_request_backfill_days` means: without a limit. */
const ALL_DAYS = 3650;

type Run = ReconcilerDeps & { timing: typeof RECONCILE_TIMING; lists: RepositoryLists };

/** Reads changes that deliveries missed, by repository, in one process. `wake` reads the installations at once. */
export function startReconciler(deps: ReconcilerDeps, timing = RECONCILE_TIMING): Poller {
  const run = { ...deps, timing, lists: createRepositoryLists() };
  let refreshSoon = false;
  const poller = poll({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async (stopping) => {
      const clients = deps.clients();
      const settings = await readAppSettings(deps.database);
      if (!clients || !settings.pull_request_stamping) return false;
      const lease = await takeRowLease(deps, githubTasks, {
        row: { name: "reconcile" },
        leaseMs: timing.leaseMs,
      });
      if (!lease) return false;
      const asked = refreshSoon;
      refreshSoon = false;
      const sinceMs = deps.clock.now().getTime() - Date.parse(lease.row.doneAt ?? "1970-01-01");
      const isRefresh = asked || sinceMs >= timing.installationsMs;
      let waitMs: number | null = null;
      const endMs = deps.clock.monotonicMs() + timing.roundMs;
      const isOver = () => stopping() || refreshSoon || deps.clock.monotonicMs() >= endMs;
      try {
        if (isRefresh) waitMs = await refresh(run, clients, settings);
        return await readPages(run, clients, async () => !isOver() && (await lease.renew()));
      } finally {
        const now = deps.clock.now();
        refreshSoon ||= asked && waitMs === null;
        // Counted from then, the next refresh is due when the wait ends; other installations are read meanwhile.
        const doneAt =
          waitMs === null ? {} : { doneAt: after(now, waitMs - (waitMs && timing.installationsMs)) };
        await lease.finish({ ...doneAt, nextAttemptAt: null });
      }
    },
  });
  return {
    ...poller,
    wake: () => {
      refreshSoon = true;
      poller.wake();
    },
  };
}

const after = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

/** Reads installations and repositories. @returns how long GitHub asks to wait for the rest, in milliseconds; 0: all is read. */
async function refresh(run: Run, clients: Clients, settings: Settings): Promise<number> {
  const { database, clock, log, lists } = run;
  const { pull_request_backfill_days: days } = settings;
  const backfillDays = days >= ALL_DAYS ? null : days;
  try {
    const { waitMs, ...found } = await readInstallations({
      database,
      clock,
      log,
      clients,
      lists,
      settings,
      backfillDays,
    });
    if (found.created > 0) log.info(found, "repositories will be read for the first time");
    return waitMs;
  } catch (error) {
    const waitMs = waitMsOf(error, clock.now());
    const status = statusOf(error);
    log.warn({ failure: failureClass(error), status, waitMs }, "the installations could not be read");
    if (waitMs === null && status === null) throw error;
    return waitMs ?? RESERVE_WAIT_MS;
  }
}

/** Reads page after page of the due passes, until none is due (false) or `mayGoOn` resolves with false (true). */
async function readPages(run: Run, clients: Clients, mayGoOn: () => Promise<boolean>): Promise<boolean> {
  const { database, clock, timing } = run;
  const deps = { database, clock, github: clients.installation, passMs: timing.passMs };
  while (true) {
    const due = await nextPass(database, clock.now());
    if (!due) return false;
    if (!(await mayGoOn())) return true;
    try {
      const result = await step(deps, due);
      report(run, result);
      if (result.callsLeft < RESERVE) await postpone(run, due, RESERVE_WAIT_MS);
    } catch (error) {
      await retry(run, due, error);
    }
  }
}

function report({ log, count }: Run, { pass, finished, ...read }: StepResult): void {
  count("pulls", read.pulls);
  count("reviews", read.reviews);
  const { repositoryId, phase, page, pulls, reviews } = pass;
  if (finished) log.info({ repositoryId, pulls, reviews }, "a repository was reconciled");
  else if (page % PAGES_PER_LINE === 0) {
    log.info({ repositoryId, phase, page, pulls, reviews }, "a repository is being reconciled");
  }
}

async function postpone({ database, clock, log }: Run, { repository }: DuePass, waitMs: number) {
  const { installationId } = repository;
  log.info({ installationId, waitMs }, "GitHub's rate limit is near; reading continues later");
  await postponePasses(database, installationId, new Date(clock.now().getTime() + waitMs));
}

async function retry(run: Run, due: DuePass, error: unknown): Promise<void> {
  const now = run.clock.now();
  const waitMs = waitMsOf(error, now);
  if (waitMs !== null) return postpone(run, due, waitMs);
  const status = statusOf(error);
  const failure = `${failureClass(error)} ${status ?? ""}`.trim();
  run.log.warn({ repositoryId: due.pass.repositoryId, failure }, "a repository could not be read");
  const retryMs = status === null ? Math.min(SOON_MS, run.timing.retryMs) : run.timing.retryMs;
  await savePass(run.database.db, { ...due.pass, failure, dueAt: after(now, retryMs) });
}
