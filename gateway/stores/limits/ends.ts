import type { Ended, LimitStore } from "./limit-store.ts";

/** The calls that may be held in the database for this process, and how their ends get there. */
export type LimitEnds = {
  begin(callId: string): void;
  /** Nothing is held for the call, or nothing more. */
  forget(callId: string): void;
  /** Tells the database, now or once it can be reached; waits for that half a second at most, and never rejects. */
  end(ended: Ended): Promise<void>;
  /** Tells what could not be told before. */
  retry(): Promise<void>;
  running(): string[];
  /** Calls of a key that have ended but are still held. */
  untold(keyId: string): number;
};

/** Longest that the end of an answer waits for its reservation to be given back. */
const END_MS = 500;

export function createEnds(
  store: Pick<LimitStore, "end">,
  touch: { reachable(): boolean; heard(error: unknown): void },
): LimitEnds {
  const running = new Set<string>();
  const untold = new Map<string, Ended>();

  async function tell(ended: Ended): Promise<void> {
    await store.end(ended);
    untold.delete(ended.callId);
    running.delete(ended.callId);
  }

  return {
    begin: (callId) => void running.add(callId),
    forget: (callId) => void running.delete(callId),
    async end(ended) {
      // Told late, the tokens of a minute that is over are of no interest.
      untold.set(ended.callId, { ...ended, tokensMore: 0 });
      if (!touch.reachable()) return;
      const telling = tell(ended).catch(touch.heard);
      let timer: Timer | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, END_MS);
      });
      await Promise.race([telling, enough]);
      clearTimeout(timer);
    },
    async retry() {
      for (const ended of [...untold.values()]) await tell(ended);
    },
    running: () => [...running],
    untold: (keyId) => [...untold.values()].filter((ended) => ended.keyId === keyId).length,
  };
}
