import { join } from "node:path";
import { type FileLock, takeLock } from "#shared/file-lock.ts";
import { errorFields, type Log } from "#shared/log.ts";

/** How soon another worker goes on with the rounds of one that died. */
const LOOK_EVERY_MS = 2000;

type Rounds = { stop(): Promise<void> };

/** Has one worker do the background rounds: the one with the lock of the data directory, which dies with it. */
export function whenElected(dataDirectory: string, start: () => Rounds, log: Log): Rounds {
  const path = join(dataDirectory, "rounds.lock");
  let held: { lock: FileLock; rounds: Rounds } | null = null;
  const look = () => {
    try {
      const lock = takeLock(path);
      if (lock === null) return;
      clearInterval(timer);
      held = { lock, rounds: start() };
      log.info({}, "does the background rounds");
    } catch (error) {
      log.error(errorFields(error), "the lock of the background rounds cannot be taken");
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  look();
  return {
    async stop() {
      clearInterval(timer);
      await held?.rounds.stop();
      held?.lock.release();
    },
  };
}
