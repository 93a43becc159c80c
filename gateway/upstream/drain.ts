/** Bounds for draining an answer after its client left, so that its usage is known. */
export const DRAIN = {
  /** For one provider, so that one that hangs does not take all places. */
  perProviderMax: 64,
  atOnceMax: 256,
  msMax: 120_000,
  bytesMax: 8 * 1024 * 1024,
} as const;

/** The places for one provider's answers. */
export type Drains = {
  /** False when no place is left: the caller then aborts the answer. */
  enter(): boolean;
  leave(): void;
};

/** Limits how many calls go on at once although their clients have left. */
export type DrainPool = { of(provider: string): Drains; running(): number };

type Bounds = { atOnceMax: number; perProviderMax: number };

export function drainPool({ atOnceMax, perProviderMax }: Bounds = DRAIN): DrainPool {
  // One entry per provider that an administrator ever named.
  const pools = new Map<string, Drains>();
  let total = 0;
  const open = (): Drains => {
    let running = 0;
    return {
      enter() {
        if (total >= atOnceMax || running >= perProviderMax) return false;
        total += 1;
        running += 1;
        return true;
      },
      leave() {
        total -= 1;
        running -= 1;
      },
    };
  };
  return {
    of: (provider) => {
      const pool = pools.get(provider) ?? open();
      pools.set(provider, pool);
      return pool;
    },
    running: () => total,
  };
}
