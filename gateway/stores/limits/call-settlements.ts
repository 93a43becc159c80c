import type { CallSettlement, LimitStore } from "./limit-store.ts";

/** The calls that may be held in the database for this process, and how their ends get there. */
export type CallSettlements = {
  begin(callId: string): void;
  /** Nothing is held for the call, or nothing more. */
  forget(callId: string): void;
  /** Tells the database, now or once it can be reached; waits for that half a second at most, and never rejects. */
  settle(ended: CallSettlement): Promise<void>;
  /** Tells what could not be told before. */
  retry(): Promise<void>;
  running(): string[];
  /** Calls of a key that have ended but are still held. */
  unsettled(keyId: string): number;
};

/** Longest that the end of an answer waits for its reservation to be given back. */
const END_MS = 500;

export function createSettlements(
  store: Pick<LimitStore, "end">,
  touch: { reachable(): boolean; onResult(error: unknown): void },
): CallSettlements {
  const running = new Set<string>();
  const untold = new Map<string, CallSettlement>();

  async function write(ended: CallSettlement): Promise<void> {
    await store.end(ended);
    untold.delete(ended.callId);
    running.delete(ended.callId);
  }

  return {
    begin: (callId) => void running.add(callId),
    forget: (callId) => void running.delete(callId),
    async settle(ended) {
      // Told late, the tokens of a minute that is over are of no interest.
      untold.set(ended.callId, { ...ended, tokensDelta: 0 });
      if (!touch.reachable()) return;
      const telling = write(ended).catch(touch.onResult);
      let timer: Timer | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, END_MS);
      });
      await Promise.race([telling, enough]);
      clearTimeout(timer);
    },
    async retry() {
      for (const ended of [...untold.values()]) await write(ended);
    },
    running: () => [...running],
    unsettled: (keyId) => [...untold.values()].filter((ended) => ended.keyId === keyId).length,
  };
}
