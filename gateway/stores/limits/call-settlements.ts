import type { CallSettlement, LimitStore } from "./limit-store.ts";

/** Tracks calls reserved by this process and writes their settlements to the database. */
export type CallSettlements = {
  begin(callId: string): void;
  /** The call no longer has a reservation. */
  forget(callId: string): void;
  /** Settles now, or once the database is reachable. Waits at most half a second, and never rejects. */
  settle(settlement: CallSettlement): Promise<void>;
  /** Retries failed writes. */
  retry(): Promise<void>;
  running(): string[];
};

/** How long the end of an answer waits for its settlement at most. */
const END_MS = 500;

export function createSettlements(
  store: Pick<LimitStore, "end">,
  connectivity: { reachable(): boolean; onFailure(error: unknown): void },
): CallSettlements {
  const running = new Set<string>();
  const unsettled = new Map<string, CallSettlement>();

  async function write(settlement: CallSettlement): Promise<void> {
    await store.end(settlement);
    unsettled.delete(settlement.callId);
    running.delete(settlement.callId);
  }

  return {
    begin: (callId) => void running.add(callId),
    forget: (callId) => void running.delete(callId),
    async settle(settlement) {
      // If written late, the minute whose tokens it corrects is over.
      unsettled.set(settlement.callId, { ...settlement, tokensDelta: 0 });
      if (!connectivity.reachable()) return;
      const writing = write(settlement).catch(connectivity.onFailure);
      let timer: Timer | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, END_MS);
      });
      await Promise.race([writing, timeout]);
      clearTimeout(timer);
    },
    async retry() {
      for (const settlement of [...unsettled.values()]) await write(settlement);
    },
    running: () => [...running],
  };
}
