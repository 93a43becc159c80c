import { errorFields, type Log } from "#shared/log.ts";
import type { Orphans } from "./orphans.ts";

/** How often the directory is searched for segments of processes that have died. */
const ADOPT_EVERY_MS = 2000;

/** Adopts segments of processes that have died, now and every 2 s, and deletes those that are done. */
export function adoptEvery(orphans: Orphans, onRows: (rows: number) => void, log: Log) {
  const adopt = () => {
    try {
      const rows = orphans.adopt();
      if (rows > 0) onRows(rows);
    } catch (error) {
      log.error(errorFields(error), "the spool directory cannot be read");
    }
    orphans.tidy().catch((error) => log.error(errorFields(error), "a spool file cannot be deleted"));
  };
  adopt();
  const timer = setInterval(adopt, ADOPT_EVERY_MS);
  timer.unref();
  return { adopt, stop: () => clearInterval(timer) };
}
