import type { Log } from "#shared/log.ts";
import { failureClass } from "./failure-class.ts";

export type Poller = {
  /** Begins the next round at once. */
  wake(): void;
  /** Begins no further round; resolves when the one under way is done. */
  stop(): Promise<void>;
};

export type PollOptions = {
  log: Log;
  /** Between rounds. */
  pollMs: number;
  /** Does what is due; true: there may be more to do at once. Should return soon once `stopping()`. */
  round(stopping: () => boolean): Promise<boolean>;
  /** Says that rounds begin to fail; absent: in general words. */
  failed?: (error: unknown) => void;
  /** Says that they succeed again. */
  resumed?: () => void;
};

/** Does rounds of work until stopped. Failures are logged once per outage, and never cause a busy loop. */
export function poll({
  log,
  pollMs,
  round,
  failed = (error) => log.warn({ failure: failureClass(error) }, "a round of work failed"),
  resumed = () => log.info({}, "work resumed"),
}: PollOptions): Poller {
  const bell = createBell();
  let stopping = false;
  let failing = false;
  const attempt = async (): Promise<boolean> => {
    try {
      const more = await round(() => stopping);
      if (failing) resumed();
      failing = false;
      return more;
    } catch (error) {
      if (!failing) failed(error);
      failing = true;
      return false;
    }
  };
  const run = async () => {
    while (!stopping) {
      const more = await attempt();
      if (!more && !stopping) await bell.wait(pollMs);
    }
  };
  const done = run();
  return {
    wake: bell.ring,
    stop: () => {
      stopping = true;
      bell.ring();
      return done;
    },
  };
}

/** A wait that can be interrupted; a ring without a waiter ends the next wait at once. */
function createBell() {
  let rung = false;
  let end = () => {};
  return {
    ring: () => {
      rung = true;
      end();
    },
    wait: async (ms: number) => {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        end = resolve;
        await promise;
        clearTimeout(timer);
      }
      rung = false;
    },
  };
}
