import { setImmediate } from "node:timers/promises";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import { keysOf } from "#shared/keys-of.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { formatPico } from "../../limits/money.ts";
import { type AwayTotal, type Overruns, overrunsOf } from "../../limits/overruns.ts";
import type { KeySpend } from "./away-sql.ts";
import type { createKeyQueues, OpenQueue } from "./key-queues.ts";
import type { LimitMetrics } from "./limit-metrics.ts";
import type { LimitStore } from "./limit-store.ts";

export type AwayReconciler = {
  /** Tells the database what was admitted without it. Rejects if it is away. */
  settle(): Promise<void>;
  /** Once the records are stored: forgets their cost, and reports keys that went over. At most one runs at a time. */
  afterwards(): void;
};

type ReconcilerDeps = {
  store: LimitStore;
  queues: ReturnType<typeof createKeyQueues>;
  metrics: LimitMetrics;
  clock: Clock;
  log: Log;
  recorded: () => Promise<void>;
  /** What it learns. */
  shared: { spend: KeySpend };
};

/** How often what keys have spent is read again: what a process knows of keys that it has not seen. */
const SPEND_MS = 60_000;

/** Makes up for an outage when the database is back. */
export function openReconciler(deps: ReconcilerDeps): AwayReconciler {
  const { store, queues, clock, log, recorded, shared } = deps;
  /** Keys to be looked at, with the minutes in which they had calls. */
  let pending = new Map<OpenQueue, Set<number>>();
  let spendAtMs = Number.NEGATIVE_INFINITY;
  let isRunning = false;

  async function afterwards(): Promise<void> {
    const unstored = queues.all().map(({ figures }) => figures.unstored());
    if (unstored.some(({ usd }) => usd > 0n)) {
      // A call hands its record over a moment after its cost.
      await setImmediate();
      await recorded();
      for (const { stored } of unstored) stored();
      spendAtMs = Number.NEGATIVE_INFINITY;
    }
    if (clock.monotonicMs() - spendAtMs < SPEND_MS) return;
    shared.spend = await store.spend(clock.now());
    spendAtMs = clock.monotonicMs();
    const reported = pending;
    pending = new Map();
    for (const [queue, minutes] of reported) await report(deps, queue, [...minutes]);
  }

  return {
    async settle() {
      for (const open of queues.all()) {
        const minutes = await open.queue.settleAway();
        if (minutes.length === 0) continue;
        pending.set(open, new Set([...(pending.get(open) ?? []), ...minutes]));
        spendAtMs = Number.NEGATIVE_INFINITY;
      }
    },
    afterwards() {
      if (isRunning) return;
      isRunning = true;
      afterwards()
        .catch((error) => log.warn(errorFields(error), "limits could not be compared after an outage yet"))
        .finally(() => {
          isRunning = false;
        });
    },
  };
}

async function report(
  { store, metrics, log, shared }: ReconcilerDeps,
  { account, queue, figures }: OpenQueue,
  minutes: number[],
): Promise<void> {
  const { keyId } = account;
  const totals = await store.awayTotals(keyId, minutes);
  const limits = queue.limits();
  const { byKey } = shared.spend;
  const spent = byKey.get(keyId)?.[limits.budget_period ?? "month"] ?? 0n;
  const over = overrunsOf(limits, totals, spent + figures.unbooked().usd);
  const limitsOver = keysOf(over).filter((limit) => over[limit] > 0);
  for (const limit of limitsOver) metrics.overrun(limit);
  const facts = { keyId, ...sumOf(totals), ...overFields(limits, over) };
  if (limitsOver.length > 0) log.warn(facts, "a key went over its limits while the database was away");
  else log.info(facts, "a key's calls were counted here while the database was away");
}

const sumOf = (totals: readonly AwayTotal[]) => ({
  requests: totals.reduce((sum, { requests }) => sum + requests, 0),
});

const overFields = (limits: KeyLimits, over: Overruns) => ({
  overRequests: over.requests_per_minute,
  overTokens: over.tokens_per_minute,
  overCalls: over.concurrency,
  ...(limits.budget_usd !== undefined && { overUsd: formatPico(over.budget_usd) }),
});
