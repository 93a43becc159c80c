import { mkdirSync } from "node:fs";
import { within } from "#drizzle/database.ts";
import { keepPartitions } from "#drizzle/keep-partitions.ts";
import { migrate } from "#drizzle/migrate.ts";
import { unreachable, untilReachable } from "#drizzle/reach.ts";
import { keepReplica } from "#drizzle/replica.ts";
import { reachDirectly, settingsOrExit } from "#shared/env.ts";
import { createLog, errorFields } from "#shared/log.ts";
import { onStopSignal } from "#shared/stop-signal.ts";
import { gatewayApp } from "./app.ts";
import { startBatchReconciler } from "./batch/reconciler.ts";
import { readGatewayConfig } from "./config.ts";
import { openDeps } from "./deps.ts";
import { startDigests } from "./digest/digests.ts";
import { startRepriceJobs } from "./repricing/reprice-jobs.ts";
import { keepRollups } from "./stores/reports/keep-rollups.ts";
import { startToolCallExpiry } from "./stores/tools/expire-tool-calls.ts";

const config = settingsOrExit(readGatewayConfig);
reachDirectly();
const log = createLog("gateway", config.logLevel);
mkdirSync(config.dataDirectory, { recursive: true });

// One stray rejection must not cut every open stream; after an uncaught throw no state can be trusted.
process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));
process.on("uncaughtException", (error) => {
  log.error(errorFields(error), "uncaught exception: stopping");
  void end(1);
});

/** Ends the process: immediately before the server listens, afterwards through `stop`. */
let end = async (exitCode: number): Promise<void> => process.exit(exitCode);

await databaseReady().catch(giveUp("The database cannot be migrated"));
const { deps, close } = await openDeps(config, log).catch(giveUp("The gateway cannot start"));
const partitions = keepPartitions(config.databaseUrl, deps.clock, log);
const replica =
  config.reportsDatabaseUrl === null ? null : keepReplica(config.reportsDatabaseUrl, deps.clock, log);
const reconciler = startBatchReconciler(deps, config.batchCheckSeconds * 1000);
const digests = startDigests(deps);
const repricing = startRepriceJobs(deps);
const toolCalls = startToolCallExpiry(deps);
const rollups = keepRollups(config.databaseUrl, deps);
const server = gatewayApp(deps).listen({ port: config.port, hostname: config.host });
deps.listener.server = server.server;
log.info({ port: config.port, host: config.host }, "gateway listens");

let stopping: Promise<void> | null = null;
end = stop;
onStopSignal(config.supervised, () => void end(0));

/** Reports "not ready", takes calls for the grace period, lets running ones finish, then flushes the spool. */
function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    deps.lifecycle.stopping = true;
    await Bun.sleep(config.stopGraceSeconds * 1000);
    await within(config.drainSecondsMax * 1000, Promise.resolve(server.server?.stop())).catch(
      () => undefined,
    );
    partitions.stop();
    await rollups.stop();
    replica?.stop();
    reconciler.stop();
    void digests.stop();
    await repricing.stop();
    toolCalls.stop();
    await close();
    log.info({}, "gateway stopped");
    process.exit(exitCode);
  })();
  return stopping;
}

function giveUp(what: string) {
  return (error: unknown): never => {
    process.stderr.write(`${what}: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  };
}

/** Waits until the database can be reached. A refused migration is not retried: it would fail again. */
async function databaseReady(): Promise<void> {
  const { databaseUrl: url } = config;
  const say = (reason: string) => log.warn({ reason }, "waiting for the database");
  for (;;) {
    await untilReachable(url, { say, signal: new AbortController().signal });
    try {
      return await migrate(url);
    } catch (error) {
      if (unreachable(url, error) === null) throw error;
    }
  }
}
