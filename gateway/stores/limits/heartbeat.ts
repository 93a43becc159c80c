import type { CallSettlements } from "./call-settlements.ts";
import type { DatabaseConnectivity } from "./connectivity.ts";
import type { createKeyQueues } from "./key-queues.ts";
import type { LimitStore } from "./limit-store.ts";
import type { AwayReconciler } from "./reconcile-away.ts";

const BEAT_MS = 5000;
/** The only thing that asks a database which is away. */
const PROBE_MS = 500;

type HeartbeatDeps = {
  store: LimitStore;
  connectivity: DatabaseConnectivity;
  ends: CallSettlements;
  queues: ReturnType<typeof createKeyQueues>;
  reconciler: AwayReconciler;
  /** What it learns. */
  shared: { replicas: number };
};

/** Says every few seconds that this process lives, and finds out whether the database does. */
export function startHeartbeat({ store, connectivity, ends, queues, reconciler, shared }: HeartbeatDeps) {
  let timer: Timer | undefined;
  let isStopped = false;

  async function beat(): Promise<void> {
    try {
      const { alive, upMs } = await store.heartbeat();
      shared.replicas = alive;
      // Before calls are booked again, the database learns what was admitted without it.
      await reconciler.settle();
      connectivity.onHeartbeat(upMs);
      await ends.retry();
      reconciler.afterwards();
      await queues.releaseIdle(store.dropLease);
      if (connectivity.isStable()) await store.sweep(ends.running());
    } catch (error) {
      connectivity.onFailure(error);
    }
  }

  async function next(): Promise<void> {
    await beat();
    if (!isStopped) wait(connectivity.reachable() ? BEAT_MS : PROBE_MS);
  }

  function wait(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      void next();
    }, ms);
    timer.unref();
  }

  const begun = next();
  return {
    begun,
    /** The database has just gone away. */
    hurry: () => {
      // Without a timer a beat is under way.
      if (timer !== undefined) wait(PROBE_MS);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
