import { poll } from "#drizzle/leases/poll.ts";
import { retainDays } from "#drizzle/retention.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import type { Directory } from "../../directory.ts";
import { openRollups } from "./rollups.ts";

/** Reports read single records until they are rolled up, so there is no deadline. */
const EVERY_MS = 10_000;
const RETENTION_EVERY_MS = 60 * 60_000;

export type KeepRollupsDeps = Ambient & {
  directory: { current(): Pick<Directory, "settings"> };
};

/**
 * Rolls up hours that ended and those that changed, and drops the single records of months that are older than
 * `retention_days`, one month a day, until stopped. `clickhouse`: whether it is set. Any number of processes may do so. Failures are logged and retried.
 */
export function keepRollups(
  databaseUrl: string,
  { directory, clock, log }: KeepRollupsDeps,
  clickhouse: boolean,
): { stop(): Promise<void> } {
  const rollups = openRollups({ url: databaseUrl, clickhouse });
  let retainedAtMs = Number.NEGATIVE_INFINITY;

  async function retain(): Promise<void> {
    const days = directory.current().settings.retention_days;
    const dropped = await retainDays(databaseUrl, { days, actor: "retention_days", confirmed: false });
    if (dropped.length > 0)
      log.warn({ partitions: dropped.join(" "), days }, "dropped records older than retention_days");
    retainedAtMs = clock.monotonicMs();
  }

  const poller = poll({
    log,
    pollMs: EVERY_MS,
    async round(stopping) {
      const turn = stopping() ? "idle" : await rollups.turn(clock.now());
      if (!stopping() && clock.monotonicMs() - retainedAtMs >= RETENTION_EVERY_MS) await retain();
      return turn === "more";
    },
    failed: (error) =>
      log.warn(errorFields(error), "rollups are waiting; reports read single records meanwhile"),
    resumed: () => {},
  });
  return {
    async stop() {
      await Promise.race([poller.stop(), Bun.sleep(5_000)]);
      await rollups.close();
    },
  };
}
