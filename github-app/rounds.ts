import type { Log } from "#shared/log.ts";
import { failureClass } from "./failure-class.ts";

export type Rounds = {
  /** There is something new: begin the next round at once. */
  wake(): void;
  /** Resolves when the round under way is done. */
  stop(): Promise<void>;
};

export type Round = {
  /** Somebody asked for it. */
  atOnce: boolean;
  /** The process is to end: begin nothing more. */
  stopping(): boolean;
  /** What was asked for could not be done now; the next round is told again. */
  undone(): void;
};

export type RoundOptions = {
  log: Log;
  /** Between rounds. */
  pollMs: number;
  /** Resolves with whether there is more to do at once; rejects when the database is away. */
  round: (it: Round) => Promise<boolean>;
};

/** Does rounds of work until stopped. One that fails is said once per outage, and never turns into a busy loop. */
export function keepRounds({ log, pollMs, round }: RoundOptions): Rounds {
  const bell = createBell();
  let stopping = false;
  let asked = false;
  let works = true;
  const tried = async () => {
    const atOnce = asked;
    asked = false;
    const undone = () => {
      asked ||= atOnce;
    };
    try {
      const more = await round({ atOnce, stopping: () => stopping, undone });
      if (!works) log.info({}, "the database can be reached again");
      works = true;
      return more;
    } catch (error) {
      if (works) log.warn({ failure: failureClass(error) }, "a round of work failed");
      works = false;
      return false;
    }
  };
  const run = async () => {
    while (!stopping) {
      const more = await tried();
      if (!more && !stopping) await bell.wait(pollMs);
    }
  };
  const done = run();
  return {
    wake: () => {
      asked = true;
      bell.ring();
    },
    stop: () => {
      stopping = true;
      bell.ring();
      return done;
    },
  };
}

/** A wait that can be cut short; a ring while nobody waits is kept for the next wait. */
function createBell() {
  let rung = false;
  let open: (() => void) | null = null;
  return {
    ring: () => {
      rung = true;
      open?.();
    },
    wait: async (ms: number) => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          open = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      open = null;
      rung = false;
    },
  };
}
