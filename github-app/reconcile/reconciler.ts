import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { failureClass } from "../failure-class.ts";
import type { Clients } from "../github/clients.ts";
import { statusOf, waitMsOf } from "../github/octokit.ts";
import type { AppCounters } from "../metrics.ts";
import { keepRounds, type Round, type Rounds } from "../rounds.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { readInstallations } from "./installations.ts";
import { type DuePass, holdPasses, nextPass, savePass } from "./passes.ts";
import { step } from "./step.ts";
import { type Turn, takeTurn } from "./turns.ts";

export type ReconcilerDeps = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null while the App has no identity at GitHub. */
  clients: () => Clients | null;
  counters: AppCounters;
};

export const RECONCILE_TIMING = {
  /** Between looks for passes that are due. */
  pollMs: 5_000,
  /** Between looks for installations and repositories. */
  installationsMs: 15 * 60_000,
  /** Between the passes of one repository. */
  againMs: 60 * 60_000,
  /** After a failure. */
  retryMs: 5 * 60_000,
  /** A process that died keeps the others from going on for so long. */
  leaseMs: 60_000,
};
type Timing = typeof RECONCILE_TIMING;

/** A share of an installation's calls that is left to others of the App's duties. */
const RESERVE = 0.05;
const RESERVE_WAIT_MS = 5 * 60_000;
const PAGES_PER_LINE = 10;
const SOON_MS = 10_000;

/**
 * Asks GitHub for what deliveries may have missed, repository by repository, as one process of all. `wake` asks at once
 * where the App is installed.
 */
export function startReconciler(deps: ReconcilerDeps, timing = RECONCILE_TIMING): Rounds {
  return keepRounds({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async (round) => {
      await reconcileOnce(deps, timing, round);
      return false;
    },
  });
}

async function reconcileOnce(deps: ReconcilerDeps, timing: Timing, round: Round): Promise<void> {
  const { database, clock } = deps;
  const clients = deps.clients();
  if (!clients) return;
  const settings = await readAppSettings(database);
  if (!settings.pull_request_stamping) return;
  const turn = await takeTurn(database, "reconcile", { leaseMs: timing.leaseMs, everyMs: 0, atOnce: true });
  // Another process has the turn.
  if (!turn) return round.undone();
  const sinceMs =
    turn.doneAt === null ? Number.POSITIVE_INFINITY : clock.now().getTime() - turn.doneAt.getTime();
  const look = round.atOnce || sinceMs >= timing.installationsMs;
  let waitMs = 0;
  try {
    if (look) waitMs = await lookAround(deps, clients, settings.pull_request_backfill_days);
    await goOn(deps, timing, { turn, clients, stopping: round.stopping });
  } finally {
    await turn.giveBack({ done: look && waitMs === 0, waitMs });
  }
}

/** Longest `pull_request_backfill_days`: it stands for all. */
const ALL_DAYS = 3650;

/** Resolves with how long GitHub asks to wait. */
async function lookAround(deps: ReconcilerDeps, clients: Clients, days: number): Promise<number> {
  const { database, clock, log } = deps;
  try {
    const seen = await readInstallations({
      database,
      clock,
      log,
      appGithub: clients.app,
      github: clients.installation,
      backfillDays: days >= ALL_DAYS ? null : days,
    });
    if (seen.fresh > 0) log.info(seen, "repositories to be read for the first time");
    return 0;
  } catch (error) {
    const waitMs = waitMsOf(error, clock.now());
    log.warn(
      { failure: failureClass(error), status: statusOf(error), waitMs },
      "GitHub did not tell where the App is",
    );
    if (waitMs === null && statusOf(error) === null) throw error;
    return waitMs ?? RESERVE_WAIT_MS;
  }
}

type Hands = { turn: Turn; clients: Clients; stopping: () => boolean };

/** Page after page of what is due, until nothing is, the turn is lost, or the process is to end. */
async function goOn(deps: ReconcilerDeps, timing: Timing, { turn, clients, stopping }: Hands): Promise<void> {
  const { database, clock } = deps;
  while (!stopping()) {
    const due = await nextPass(database, clock.now());
    if (!due || !(await turn.keep())) return;
    try {
      const result = await step(
        { database, clock, github: clients.installation, againMs: timing.againMs },
        due,
      );
      report(deps, result);
      if (result.callsLeft < RESERVE) await hold(deps, due, RESERVE_WAIT_MS);
    } catch (error) {
      await postpone(deps, timing, due, error);
    }
  }
}

function report(
  { log, counters }: ReconcilerDeps,
  { pass, ...read }: Awaited<ReturnType<typeof step>>,
): void {
  counters.reconciledPulls.inc(read.pulls);
  counters.reconciledReviews.inc(read.reviews);
  const { repositoryId, phase, page, pulls, reviews } = pass;
  if (read.finished) log.info({ repositoryId, pulls, reviews }, "a repository was reconciled");
  else if (page % PAGES_PER_LINE === 0) {
    log.info({ repositoryId, phase, page, pulls, reviews }, "a repository is being reconciled");
  }
}

/** Lets the passes of an installation wait: its calls are counted together. */
async function hold({ database, clock, log }: ReconcilerDeps, { repository }: DuePass, waitMs: number) {
  const { installationId } = repository;
  log.info({ installationId, waitMs }, "GitHub's limit is near; reading goes on later");
  await holdPasses(database, installationId, new Date(clock.now().getTime() + waitMs));
}

async function postpone(deps: ReconcilerDeps, timing: Timing, due: DuePass, error: unknown): Promise<void> {
  const now = deps.clock.now();
  const waitMs = waitMsOf(error, now);
  if (waitMs !== null) return hold(deps, due, waitMs);
  const failure = `${failureClass(error)} ${statusOf(error) ?? ""}`.trim();
  const { repositoryId } = due.pass;
  deps.log.warn({ repositoryId, failure }, "a repository could not be read");
  // What is not GitHub's answer, such as a deadlock, is over soon.
  const retryMs = statusOf(error) === null ? Math.min(SOON_MS, timing.retryMs) : timing.retryMs;
  const dueAt = new Date(now.getTime() + retryMs).toISOString();
  await savePass(deps.database.db, { ...due.pass, failure, dueAt });
}
