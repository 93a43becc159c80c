import type { Clock } from "#shared/clock.ts";

export type WorkMeter = {
  /** Measures one report's making. */
  during<T>(making: () => Promise<T>): Promise<T>;
  /** Milliseconds of this machine's cores that reports took since this was last asked. */
  taken(): number;
};

/**
 * How much of this machine reports take. Where Postgres works here, too, that is as long as each is in the making:
 * nearly all of it is work of one core. Elsewhere it is what the calling thread computes.
 */
export function workMeter(isDatabaseHere: boolean, clock: Clock): WorkMeter {
  let madeMs = 0;
  const untilNowMs = () => (isDatabaseHere ? madeMs : computedMs());
  let toldMs = untilNowMs();
  return {
    async during(making) {
      const beganMs = clock.monotonicMs();
      try {
        return await making();
      } finally {
        madeMs += clock.monotonicMs() - beganMs;
      }
    },
    taken() {
      const beforeMs = toldMs;
      toldMs = untilNowMs();
      return toldMs - beforeMs;
    },
  };
}

function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
