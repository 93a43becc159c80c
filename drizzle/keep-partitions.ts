import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { ensurePartitions } from "./partitions.ts";

/** Partitions are made two months ahead, so a few missed turns do no harm. */
const EVERY_MS = 6 * 60 * 60_000;

/** Creates missing months now and every six hours, until stopped. Failures are logged and retried. */
export function keepPartitions(url: string, clock: Clock, log: Log): { stop(): void } {
  const turn = () =>
    ensurePartitions(url, clock.now()).then(
      (made) => {
        if (made.length > 0) log.info({ partitions: made.join(" ") }, "partitions made");
      },
      (error) => log.warn(errorFields(error), "partitions cannot be created yet"),
    );
  void turn();
  const timer = setInterval(() => void turn(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
