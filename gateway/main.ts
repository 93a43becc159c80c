import { mkdirSync } from "node:fs";
import { keepPartitions } from "#drizzle/keep-partitions.ts";
import { migrate } from "#drizzle/migrate.ts";
import { unreachable, untilReachable } from "#drizzle/reach.ts";
import { keepReplica } from "#drizzle/replica.ts";
import { settingsOrExit } from "#shared/env.ts";
import { leavePort, listenOn } from "#shared/listen.ts";
import { createLog, errorFields } from "#shared/log.ts";
import { reachDirectly } from "#shared/loopback.ts";
import { startRequestThread } from "#shared/request-thread.ts";
import { mayProceed, onStopSignal, REPLACED, sayPrepared, sayReady } from "#shared/stop-signal.ts";
import { gatewayApp } from "./app.ts";
import { startBatchReconciler } from "./batch/reconciler.ts";
import { readGatewayConfig } from "./config.ts";
import { openDeps } from "./deps.ts";
import { startDigests } from "./digest/digests.ts";
import { startRepriceJobs } from "./repricing/reprice-jobs.ts";
import { keepCopies } from "./stores/clickhouse/keep.ts";
import { keepRollups } from "./stores/reports/keep-rollups.ts";
import { startToolCallExpiry } from "./stores/tools/expire-tool-calls.ts";
import { stopServing } from "./upstream/stop-serving.ts";
import { whenElected } from "./workers/elected.ts";

/** Pause after a refusal of the database. */
const REFUSED_MS = 5000;

const config = settingsOrExit(readGatewayConfig);
reachDirectly();
await startRequestThread();
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

const { deps, warmed, begin, close } = await openDeps(config, log).catch(giveUp("The gateway cannot start"));
const server = gatewayApp(deps);
/** How long a gateway that was replaced goes on taking calls of clients that keep their connection. */
const HANDOVER_MS = 2000;

let jobs: { stop(): Promise<void> } | null = null;
let stopping: Promise<void> | null = null;
end = stop;
onStopSignal(config.supervised, (reason) => {
  deps.lifecycle.replaced = reason === REPLACED;
  void end(0);
});

// Who is alone listens at once, and says what it waits for. Who joins others or replaces them takes calls once it can
// serve them; until then the others do. Calls go on from the last known configuration while the database is away.
if (!(config.takesOver || config.joins)) await listen();
if (!config.takesOver) void warmed.then(sayPrepared);
const database = databaseReady().catch(giveUp("The database cannot be migrated"));
if (config.joins) await warmed.then(listen);
await database;
if (config.takesOver) await mayProceed().then(listen);
sayReady();
if (!deps.lifecycle.stopping) {
  jobs = config.workers === 1 ? startJobs() : whenElected(config.dataDirectory, startJobs, log);
}

async function listen(): Promise<void> {
  const { host: hostname, port, supervised, takesOver, workers } = config;
  const handover = { sharesPort: supervised, takesOver, processes: workers };
  await listenOn({ hostname, port }, handover, (options) => server.listen(options));
  deps.listener.server = server.server;
  log.info({ port, host: hostname }, "gateway listens");
}

/** Reports "not ready", takes calls for the grace period, lets running ones finish, then flushes the spool. */
function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    deps.lifecycle.stopping = true;
    const graceMs = config.stopGraceSeconds * 1000;
    await Bun.sleep(deps.lifecycle.replaced ? Math.max(graceMs, HANDOVER_MS) : graceMs);
    if (deps.lifecycle.replaced) leavePort(config.port, { processes: config.workers });
    if (server.server) await stopServing(server.server, deps, config.drainSecondsMax * 1000);
    await jobs?.stop();
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

/**
 * Waits for the database, migrates it and reads it. What it refuses is not tried again, because it would fail again,
 * unless calls go on from the last known configuration meanwhile.
 */
async function databaseReady(): Promise<void> {
  const { databaseUrl: url } = config;
  const say = (reason: string) => log.warn({ reason }, "waiting for the database");
  for (;;) {
    try {
      await untilReachable(url, { say, signal: new AbortController().signal });
      await migrate(url);
      return await begin();
    } catch (error) {
      if (unreachable(url, error) !== null) continue;
      if (deps.directory.state().source === "none") throw error;
      log.error(errorFields(error), "the database cannot be used; the last known configuration stays in use");
      await Bun.sleep(REFUSED_MS);
    }
  }
}

/** What runs beside the calls and needs the database. */
function startJobs(): { stop(): Promise<void> } {
  const { databaseUrl, reportsDatabaseUrl, clickhouse } = config;
  const partitions = keepPartitions(databaseUrl, deps.clock, log);
  const replica = reportsDatabaseUrl === null ? null : keepReplica(reportsDatabaseUrl, deps.clock, log);
  const reconciler = startBatchReconciler(deps, config.batchCheckSeconds * 1000);
  const digests = startDigests(deps);
  const repricing = startRepriceJobs(deps);
  const toolCalls = startToolCallExpiry(deps);
  const rollups = keepRollups(databaseUrl, deps);
  const copies =
    clickhouse === null || deps.copies === null
      ? null
      : keepCopies({ databaseUrl, clickhouse }, { ...deps, copies: deps.copies });
  return {
    async stop() {
      partitions.stop();
      await Promise.all([rollups.stop(), copies?.stop()]);
      replica?.stop();
      reconciler.stop();
      void digests.stop();
      await repricing.stop();
      toolCalls.stop();
    },
  };
}
