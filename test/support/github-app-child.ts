/** The whole GitHub App as a process of its own, at a pace for tests: settings come as for the real one. */

import { startGithubApp } from "#github-app/app.ts";
import { WORKER_TIMING } from "#github-app/inbox/worker.ts";
import { RECONCILE_TIMING } from "#github-app/reconcile/reconciler.ts";
import { systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { createLog, errorFields } from "#shared/log.ts";

const config = readGithubAppConfig();
const log = createLog("github-app", config.logLevel);
process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));
// Bun stops the process at the end of its parent's pipe only if it is told to.
process.on("SIGTERM", () => process.exit(0));

const fast = (name: string, fallback: number) => Number(process.env[name] ?? fallback);

const { server } = await startGithubApp({
  config,
  clock: systemClock,
  log,
  writeMs: 0,
  timing: {
    worker: { ...WORKER_TIMING, pollMs: 50, sweepMs: 100 },
    reconcile: {
      ...RECONCILE_TIMING,
      pollMs: 50,
      installationsMs: fast("TEST_INSTALLATIONS_MS", 900_000),
      passMs: fast("TEST_AGAIN_MS", 3_600_000),
      retryMs: 200,
      leaseMs: 2_000,
    },
    redeliver: { pollMs: 50, everyMs: fast("TEST_REDELIVER_MS", 600_000), leaseMs: 2_000 },
  },
});
server.listen({ hostname: config.host, port: config.port });
