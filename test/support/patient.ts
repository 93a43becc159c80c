import type { RequestBodyDeps } from "#gateway/upstream/request-body.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { systemClock } from "#shared/clock.ts";

/** What reading a body needs, where its deadline does not matter. */
export const patient = (): RequestBodyDeps => ({
  clock: systemClock,
  watchdog: startWatchdog(systemClock),
  patience: { readerMs: 120_000, bodyMs: 120_000 },
});
