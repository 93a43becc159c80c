/** Bounds for draining an answer after its client left (decision: An abandoned call is read to its end). */
export const DRAIN = { atOnceMax: 64, msMax: 120_000, bytesMax: 8 * 1024 * 1024 } as const;

/** Limits how many answers are drained at once. */
export type DrainPool = {
  /** False when the pool is full: the caller then aborts the answer. */
  enter(): boolean;
  leave(): void;
  running(): number;
};

export function drainPool(atOnceMax: number = DRAIN.atOnceMax): DrainPool {
  let running = 0;
  return {
    enter() {
      if (running >= atOnceMax) return false;
      running += 1;
      return true;
    },
    leave() {
      running -= 1;
    },
    running: () => running,
  };
}
