import type { Database } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import { type DueDelivery, dueDeliveries, purgeApplied, retryDelivery } from "../stores/inbox-store.ts";
import { linkAgain, type PullRequestKey, unlinkedPullRequests } from "../stores/outcome-store.ts";
import { joinWaitingMerges, purgeWaitingMerges } from "../stores/waiting-merges.ts";

export type WorkerDeps = Ambient & {
  database: Database;
  /** Applies one delivery and marks it applied; rejects when it could not. */
  receive: (delivery: DueDelivery) => Promise<void>;
  /** Deliveries that have arrived and are not answered yet. */
  unanswered?: () => number;
};

export const WORKER_TIMING = {
  /** Between looks at the inbox for deliveries that other processes stored, and for retries. */
  pollMs: 1_000,
  /** Between looks for sessions that have become known. */
  sweepMs: 2_000,
  purgeMs: 3_600_000,
};

const BATCH = 100;
const SWEEP_ROWS = 500;
/** GitHub redelivers for 3 days (Enterprise Server: 7) under the same id, by which a repetition is recognised here. */
const KEEP_APPLIED_MS = 8 * 86_400_000;

/** Applies the inbox, batch by batch in the order of the payloads' own times, until stopped. */
export function startWorker(deps: WorkerDeps, timing = WORKER_TIMING): Poller {
  const sweep = every(timing.sweepMs, deps.clock, createSweep(deps));
  const purge = every(timing.purgeMs, deps.clock, () => purgeOld(deps));
  return poll({
    log: deps.log,
    pollMs: timing.pollMs,
    round: async () => {
      await yieldToAnswers(deps);
      const applied = await applyDue(deps);
      await sweep();
      await purge();
      // A full batch means that there may be more.
      return applied === BATCH;
    },
  });
}

/** More than these are unanswered only in a surge. */
const UNANSWERED_CALM = 10;
const YIELD_MS = 10;
const YIELDS_MAX = 25;

/** In a surge, answers to GitHub come first: stored deliveries can wait, but not forever. */
async function yieldToAnswers({ unanswered }: WorkerDeps): Promise<void> {
  for (let yields = 0; yields < YIELDS_MAX && (unanswered?.() ?? 0) > UNANSWERED_CALM; yields++) {
    await Bun.sleep(YIELD_MS);
  }
}

/** Applies what is due, at most one batch. @returns how many were applied. Rejects when the database is away. */
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
    const failure = failureClass(error);
    const waitMs = await retryDelivery(deps.database, delivery, { failure, now: deps.clock.now() });
    const { deliveryId, event, attempts } = delivery;
    deps.log.warn({ deliveryId, event, failure, attempts: attempts + 1, waitMs }, "a delivery failed");
    return false;
  }
}

/** Links merged pull requests again whose session, or its owner, has become known since. Each run takes the next slice of them. */
function createSweep({ database, log }: WorkerDeps): () => Promise<void> {
  const first: PullRequestKey = { repositoryId: 0, number: 0 };
  let after = first;
  return async () => {
    const waited = await joinWaitingMerges(database);
    if (waited > 0) log.info({ waited }, "merges that waited for joining were stored");
    const slice = await unlinkedPullRequests(database, after, SWEEP_ROWS);
    after = slice.length < SWEEP_ROWS ? first : (slice.at(-1) ?? first);
    let joined = 0;
    for (const key of slice) {
      if (key.known && (await database.db.transaction((tx) => linkAgain(tx, key)))) joined++;
    }
    if (joined > 0) log.info({ joined }, "sessions of merged pull requests became known");
  };
}

async function purgeOld({ database, clock, log }: WorkerDeps): Promise<void> {
  await purgeWaitingMerges(database, clock.now());
  const removed = await purgeApplied(database, new Date(clock.now().getTime() - KEEP_APPLIED_MS));
  if (removed > 0) log.info({ removed }, "old applied deliveries were removed");
}

function every(ms: number, clock: Clock, work: () => Promise<void>): () => Promise<void> {
  let nextMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() < nextMs) return;
    nextMs = clock.monotonicMs() + ms;
    await work();
  };
}
