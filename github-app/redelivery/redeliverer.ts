import { failureClass } from "../failure-class.ts";
import { statusOf, waitMsOf } from "../github/octokit.ts";
import type { ReconcilerDeps } from "../reconcile/reconciler.ts";
import { takeTurn } from "../reconcile/turns.ts";
import { keepRounds, type Round, type Rounds } from "../rounds.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { redeliver } from "./redeliver.ts";

export const REDELIVER_TIMING = {
  pollMs: 30_000,
  /** Between looks at GitHub's list of deliveries. */
  everyMs: 10 * 60_000,
  leaseMs: 15 * 60_000,
};

const RETRY_MS = 60_000;

/** Has failed deliveries delivered again, as one process of all. `wake` looks at once. */
export function startRedeliverer(deps: ReconcilerDeps, timing = REDELIVER_TIMING): Rounds {
  return keepRounds({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async (round) => {
      await redeliverOnce(deps, timing, round);
      return false;
    },
  });
}

async function redeliverOnce(
  deps: ReconcilerDeps,
  timing: typeof REDELIVER_TIMING,
  { atOnce, stopping, undone }: Round,
): Promise<void> {
  const { database, clock, log, counters } = deps;
  const clients = deps.clients();
  if (!clients || !(await readAppSettings(database)).pull_request_stamping) return;
  const turn = await takeTurn(database, "redeliver", { ...timing, atOnce });
  if (!turn) return undone();
  let waitMs = 0;
  let done = false;
  try {
    const work = { database, appGithub: clients.app, now: clock.now() };
    const { asked, left } = await redeliver(work, turn.doneAt, stopping);
    counters.redelivered.inc(asked);
    done = left === 0;
    if (asked > 0) log.info({ asked, left }, "failed deliveries are delivered again");
  } catch (error) {
    waitMs = waitMsOf(error, clock.now()) ?? RETRY_MS;
    log.warn(
      { failure: failureClass(error), status: statusOf(error), waitMs },
      "failed deliveries could not be looked up",
    );
  } finally {
    await turn.giveBack({ done, waitMs });
  }
}
