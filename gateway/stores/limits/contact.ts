import { setImmediate } from "node:timers/promises";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";

/** A process sweeps only after this time in contact: after an outage the others must have come back too. */
const STEADY_MS = 12_000;
const BEAT_MS = 5000;
/** Only the heartbeat queries a database that is away. */
const PROBE_MS = 500;

/** Every few seconds, a process reports that it is alive, and checks whether the database is. */
type Heartbeat = {
  /** Asks the database, and resolves with its uptime in ms. */
  beat(): Promise<number>;
  /** Then, while calls ask the database again. */
  afterwards(isSteady: boolean): Promise<void>;
};

type ContactDeps = Ambient & {
  /** The database is away once calls wait for it and it has answered nothing for this time. */
  awayAfterMs: number;
};

export type Contact = ReturnType<typeof openContact>;

/**
 * A circuit breaker between calls and the database: the first failure opens it, and only a heartbeat closes it. While it is
 * open no call asks the database, and calls that were asking stop waiting.
 */
export function openContact({ clock, log, awayAfterMs }: ContactDeps) {
  let state: "starting" | "reachable" | "away" = "starting";
  let beatenMs = Number.NEGATIVE_INFINITY;
  let steadySinceMs: number | null = null;
  const waiters = openWaiters({ clock, awayAfterMs, failed });
  /** Ends the wait for the next heartbeat. */
  let probe = (): void => undefined;

  /** The database has been up for `upMs`. */
  function answered(upMs: number): void {
    beatenMs = clock.monotonicMs();
    // A starting process has missed nothing, unless the database itself has just come back.
    if (state === "starting" && upMs > STEADY_MS) steadySinceMs = Number.NEGATIVE_INFINITY;
    steadySinceMs ??= beatenMs;
    if (state === "away") log.info({}, "the limits' database is reachable again");
    state = "reachable";
  }

  /** A query failed. */
  function failed(error: unknown): void {
    if (state === "away") return;
    log.warn(errorFields(error), "the limits' database cannot be reached; limits are counted here");
    state = "away";
    steadySinceMs = null;
    waiters.giveUp();
    probe();
  }

  return {
    failed,
    /** False until the first heartbeat, and from a failure to the next heartbeat. */
    reachable: () => state === "reachable",
    /** How long ago the last heartbeat succeeded. */
    silentMs: () => clock.monotonicMs() - beatenMs,
    /** `work`, or a rejection as soon as the database is known to be away. */
    whileReachable: waiters.wait,
    /** Begins to beat; `begun` is the end of the first beat. */
    keep({ beat, afterwards }: Heartbeat): { begun: Promise<void>; stop(): void } {
      let isStopped = false;
      const once = async () => {
        try {
          answered(await beat());
          await afterwards(steadySinceMs !== null && clock.monotonicMs() - steadySinceMs > STEADY_MS);
        } catch (error) {
          failed(error);
        }
      };
      const begun = once();
      const keepOn = async () => {
        await begun;
        while (!isStopped) {
          const hurried = new Promise<void>((resolve) => {
            probe = resolve;
          });
          if (state === "reachable") await Promise.race([pause(BEAT_MS), hurried]);
          if (state !== "reachable") await pause(PROBE_MS);
          if (!isStopped) await once();
        }
      };
      void keepOn();
      const stop = () => {
        isStopped = true;
      };
      return { begun, stop };
    },
  };
}

type WaitersDeps = Omit<ContactDeps, "log"> & { failed(error: Error): void };

/** The calls that ask the database. A busy one that answers others is not away. */
function openWaiters({ clock, awayAfterMs, failed }: WaitersDeps) {
  /** Ends the wait of each call; in their order, with the time of asking. */
  const waiting = new Map<(reason: Error) => void, number>();
  let heardMs = Number.NEGATIVE_INFINITY;
  let isWatched = false;

  async function watch(ms: number): Promise<void> {
    if (isWatched) return;
    isWatched = true;
    await pause(ms);
    // Answers that came while this process was busy are read first.
    await setImmediate();
    isWatched = false;
    const [askedMs] = waiting.values();
    if (askedMs === undefined) return;
    const leftMs = Math.max(askedMs, heardMs) + awayAfterMs - clock.monotonicMs();
    if (leftMs > 0) return watch(leftMs);
    failed(new Error(`the limits' database did not answer within ${awayAfterMs} ms`));
  }

  return {
    async wait<T>(work: Promise<T>): Promise<T> {
      const away = Promise.withResolvers<never>();
      waiting.set(away.reject, clock.monotonicMs());
      void watch(awayAfterMs);
      work.catch(() => undefined);
      try {
        const answer = await Promise.race([work, away.promise]);
        heardMs = clock.monotonicMs();
        return answer;
      } finally {
        waiting.delete(away.reject);
      }
    },
    giveUp(): void {
      for (const give of waiting.keys()) give(new Error("the limits' database went away"));
    },
  };
}

/** Does not keep the process alive. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
