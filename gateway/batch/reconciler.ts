import { errorFields } from "#shared/log.ts";
import { type BatchRow, checkBatchAgain, takeDueBatches } from "../stores/batches.ts";
import type { BatchDeps } from "./deps.ts";
import { fetchBatch, reconcileOnce } from "./provider-batch.ts";
import { isEnded } from "./read-answer.ts";
import { recordLostBatch } from "./reconcile.ts";

/** Batches per round. */
const ROUND_MAX = 10;
const WAIT_MAX_MS = 600_000;
/** If a provider answers 404 this long after a batch was created, the batch is considered lost. */
const FORGOTTEN_MS = 48 * 3_600_000;
/** Batches that fail for longer are considered lost: no provider keeps results for more than 30 days. */
const LOST_MS = 30 * 24 * 3_600_000;

export type BatchReconciler = { round(): Promise<void>; stop(): void };

/**
 * Polls batches, so that their cost is recorded even if no client ever fetches them. Any number of gateways may run
 * this: each batch is taken by one at a time, and recording is idempotent.
 */
export function startBatchReconciler(deps: BatchDeps, everyMs: number): BatchReconciler {
  let running = false;
  const round = async () => {
    const due = await takeDueBatches(deps.database, deps.clock.now(), ROUND_MAX);
    for (const row of due) await poll(deps, row, everyMs);
  };
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    void round()
      .catch((error) => deps.log.warn(errorFields(error), "batches could not be reconciled"))
      .finally(() => {
        running = false;
      });
  }, everyMs);
  timer.unref();
  return { round, stop: () => clearInterval(timer) };
}

async function poll(deps: BatchDeps, row: BatchRow, everyMs: number): Promise<void> {
  const now = deps.clock.now().getTime();
  const ageMs = now - Date.parse(row.startedAt);
  try {
    const { answer, row: seen } = await fetchBatch(deps, row);
    const forgotten = answer.status === 404 && ageMs > FORGOTTEN_MS;
    if (forgotten) await recordLostBatch(deps, row);
    else if (answer.ok && isEnded(seen.kind, seen.status)) return await reconcileOnce(deps, seen);
  } catch (error) {
    deps.log.warn({ batch: row.id, ...errorFields(error) }, "a batch could not be reconciled yet");
    if (ageMs > LOST_MS) return recordLostBatch(deps, row);
  }
  const waitMs = Math.min(everyMs * 2 ** Math.min(row.checks, 10), WAIT_MAX_MS);
  await checkBatchAgain(deps.database, row.id, new Date(now + waitMs).toISOString());
}
