import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { failureClass } from "../failure-class.ts";
import { keepRounds, type Rounds } from "../rounds.ts";
import { type DueDelivery, dueDeliveries, markFailed, purgeApplied } from "../stores/inbox-store.ts";
import { linkAgain, type PullRequestKey, sessionsToLookFor } from "../stores/outcome-store.ts";

export type WorkerDeps = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Applies one delivery and marks it applied; rejects when it could not. */
  receive: (delivery: DueDelivery) => Promise<void>;
  /** Deliveries that wait for their answer. */
  inHand?: () => number;
};

export const WORKER_TIMING = {
  /** Between looks at the inbox for what other processes stored and for what is to be tried again. */
  pollMs: 1_000,
  /** Between looks for sessions that have become known. */
  sweepMs: 2_000,
  purgeMs: 3_600_000,
};

const BATCH = 100;
const SWEEP_ROWS = 500;
/** GitHub delivers again within 3 days (Enterprise Server: 7) under the same id, which is told apart here. */
const KEEP_APPLIED_MS = 8 * 86_400_000;
const RETRY_SECONDS_MAX = 3_600;

/** Applies the inbox, batch by batch in the order of the payloads' own times, until stopped. */
export function startWorker(deps: WorkerDeps, timing = WORKER_TIMING): Rounds {
  const sweep = everyMs(deps.clock, timing.sweepMs, createSweep(deps));
  const purge = everyMs(deps.clock, timing.purgeMs, () => purgeOld(deps));
  return keepRounds({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async () => {
      await letAnswersPass(deps);
      const applied = await applyDue(deps);
      await sweep();
      await purge();
      // A full batch means that there may be more.
      return applied === BATCH;
    },
  });
}

/** More than these wait only in a surge. */
const IN_HAND_CALM = 10;
const YIELD_MS = 10;
const YIELDS_MAX = 25;

/** In a surge GitHub's clock comes first: what is stored can wait, but not for ever. */
async function letAnswersPass({ inHand }: WorkerDeps): Promise<void> {
  for (let yields = 0; yields < YIELDS_MAX && (inHand?.() ?? 0) > IN_HAND_CALM; yields++) {
    await Bun.sleep(YIELD_MS);
  }
}

/** Applies what is due, at most one batch; resolves with how many were applied. Rejects when the database is away. */
async function applyDue(deps: WorkerDeps): Promise<number> {
  const due = await dueDeliveries(deps.database, deps.clock.now(), BATCH);
  // All at once, so that they can share a transaction.
  const applied = await Promise.all(due.map((delivery) => applyOne(deps, delivery)));
  return applied.filter(Boolean).length;
}

async function applyOne(deps: WorkerDeps, delivery: DueDelivery): Promise<boolean> {
  try {
    await deps.receive(delivery);
    return true;
  } catch (error) {
    await retryLater(deps, delivery, error);
    return false;
  }
}

async function retryLater(deps: WorkerDeps, { deliveryId, event, attempts }: DueDelivery, error: unknown) {
  const failure = failureClass(error);
  const retrySeconds = Math.min(2 ** attempts, RETRY_SECONDS_MAX);
  deps.log.warn({ deliveryId, event, failure, attempts: attempts + 1, retrySeconds }, "a delivery failed");
  await markFailed(deps.database, deliveryId, {
    failure,
    nextAttemptAt: new Date(deps.clock.now().getTime() + retrySeconds * 1000),
  });
}

/** Joins merged pull requests whose session has become known since. Each run takes the next slice of them. */
function createSweep({ database, log }: WorkerDeps): () => Promise<void> {
  const first: PullRequestKey = { repositoryId: 0, number: 0 };
  let after = first;
  return async () => {
    const slice = await sessionsToLookFor(database, after, SWEEP_ROWS);
    after = slice.length < SWEEP_ROWS ? first : (slice.at(-1) ?? first);
    let joined = 0;
    for (const key of slice) {
      if (key.known && (await database.db.transaction((tx) => linkAgain(tx, key)))) joined++;
    }
    if (joined > 0) log.info({ joined }, "sessions of merged pull requests became known");
  };
}

async function purgeOld({ database, clock, log }: WorkerDeps): Promise<void> {
  const removed = await purgeApplied(database, new Date(clock.now().getTime() - KEEP_APPLIED_MS));
  if (removed > 0) log.info({ removed }, "applied deliveries were removed for their age");
}

function everyMs(clock: Clock, ms: number, work: () => Promise<void>): () => Promise<void> {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() < nextAt) return;
    nextAt = clock.monotonicMs() + ms;
    await work();
  };
}
