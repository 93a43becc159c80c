import { errorFields } from "#shared/log.ts";
import { type BatchRow, checkBatchAgain, takeDueBatches } from "../stores/batches.ts";
import { settlePendingResponses } from "./background-responses.ts";
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
 * Polls batches and background responses, so that their cost is recorded even if no client ever fetches them. Any number of gateways may run
 * this: each batch is taken by one at a time, and recording is idempotent. A provider that does not answer delays its own
 * batches only.
 */
export function startBatchReconciler(deps: BatchDeps, everyMs: number): BatchReconciler {
  /** Providers whose batches are being polled, one after the other. */
  const polled = new Set<string>();
  const pollAll = async (provider: string, rows: readonly BatchRow[]) => {
    polled.add(provider);
    try {
      for (const row of rows) await poll(deps, row, everyMs);
    } finally {
      polled.delete(provider);
    }
  };
  let responses: Promise<void> | null = null;
  const round = async () => {
    responses ??= settlePendingResponses(deps).finally(() => {
      responses = null;
    });
    await Promise.all([responses, batchRound()]);
  };
  const batchRound = async () => {
    const slice = { limit: ROUND_MAX, without: [...polled] };
    const due = await takeDueBatches(deps.database, deps.clock.now(), slice);
    const lanes = Object.entries(Object.groupBy(due, ({ provider }) => provider));
    await Promise.all(lanes.map(([provider, rows = []]) => pollAll(provider, rows)));
  };
  const timer = setInterval(() => {
    void round().catch((error) => deps.log.warn(errorFields(error), "batches could not be reconciled"));
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
