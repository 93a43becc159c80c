import { mkdirSync } from "node:fs";
import { migrate } from "#drizzle/migrate.ts";
import { keepPartitions } from "#drizzle/partitions.ts";
import { unreachable, untilReachable } from "#drizzle/reach.ts";
import { keepReplica } from "#drizzle/replica.ts";
import { leavePort, listenOn } from "#shared/listen.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { startAlerts } from "./alerts/alerts.ts";
import { gatewayApp } from "./app.ts";
import { startBatchReconciler } from "./batch/reconciler.ts";
import { startFetchingBills } from "./bills/fetch-bills.ts";
import type { GatewayConfig } from "./config.ts";
import { type OpenedDeps, openDeps } from "./deps.ts";
import { startDigests } from "./digest/digests.ts";
import { startUploadingDays } from "./export/upload-days.ts";
import { startFetchingPrices } from "./repricing/fetch-prices.ts";
import { startRepriceJobs } from "./repricing/reprice-jobs.ts";
import { keepCopies } from "./stores/clickhouse/keep.ts";
import { WrongMasterKey } from "./stores/master-key-check.ts";
import { keepRollups } from "./stores/reports/keep-rollups.ts";
import { startToolCallExpiry } from "./stores/tools/expire-tool-calls.ts";
import type { Lifecycle } from "./surfaces/health.ts";
import { stopServing } from "./upstream/patience.ts";
import { whenElected } from "./workers/elected.ts";

/** Pause after a refusal of the database. */
const REFUSED_MS = 5000;
/** How long a gateway that was replaced continues to take calls of clients that keep their connection. */
const HANDOVER_MS = 2000;

/** One gateway: what a process runs, and what a test runs without a process of its own. */
export type RunningGateway = {
  lifecycle: Lifecycle;
  /** Resolves when calls could be served, maybe without the database. */
  warmed: Promise<void>;
  /** Opens the port. Calls are answered from then on, with 503 until they can be served. */
  listen(): Promise<void>;
  /** Waits for the database, migrates and reads it. Refusals are not retried, unless calls continue from a snapshot. */
  databaseReady(): Promise<void>;
  /** Starts what runs beside the calls and needs the database. */
  startJobs(): void;
  /** Reports "not ready", takes calls for the grace period, lets running ones finish, then flushes the spool. */
  stop(): Promise<void>;
};

/** Opens a gateway that does not listen yet. Postgres may be away. */
export async function openGateway(config: GatewayConfig, log: Log): Promise<RunningGateway> {
  mkdirSync(config.dataDirectory, { recursive: true });
  const { deps, warmed, begin, close } = await openDeps(config, log);
  const { lifecycle } = deps;
  const app = gatewayApp(deps);
  let jobs: Jobs | null = null;
  let stopping: Promise<void> | null = null;

  async function listen(): Promise<void> {
    const { host: hostname, port, supervised, takesOver, workers } = config;
    const handover = { sharesPort: supervised, takesOver, processes: workers };
    await listenOn({ hostname, port }, handover, (options) => app.listen(options));
    deps.listener.server = app.server;
    log.info({ port, host: hostname }, "gateway listens");
  }

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
        if (error instanceof WrongMasterKey || deps.directory.state().source === "none") throw error;
        log.error(
          errorFields(error),
          "the database cannot be used; the last known configuration stays in use",
        );
        await Bun.sleep(REFUSED_MS);
      }
    }
  }

  async function stop(): Promise<void> {
    lifecycle.stopping = true;
    const graceMs = config.stopGraceSeconds * 1000;
    await Bun.sleep(lifecycle.replaced ? Math.max(graceMs, HANDOVER_MS) : graceMs);
    if (lifecycle.replaced) leavePort(config.port, { processes: config.workers });
    if (app.server) await stopServing(app.server, deps, config.drainSecondsMax * 1000);
    await close(jobs?.stop());
    log.info({}, "gateway stopped");
  }

  return {
    lifecycle,
    warmed,
    listen,
    databaseReady,
    startJobs() {
      if (lifecycle.stopping) return;
      const start = () => startJobs(config, deps);
      jobs = config.workers === 1 ? start() : whenElected(config.dataDirectory, start, log);
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

type Jobs = { stop(): Promise<void> };

function startJobs(config: GatewayConfig, deps: OpenedDeps["deps"]): Jobs {
  const { databaseUrl, reportsDatabaseUrl, clickhouse } = config;
  const { clock, log } = deps;
  const partitions = keepPartitions(databaseUrl, clock, log);
  const replica = reportsDatabaseUrl === null ? null : keepReplica(reportsDatabaseUrl, clock, log);
  const reconciler = startBatchReconciler(deps, config.batchCheckSeconds * 1000);
  const digests = startDigests(deps);
  const bills = startFetchingBills(deps);
  const uploads = startUploadingDays(deps);
  const fetchedPrices = startFetchingPrices(deps);
  const alerts = startAlerts(deps);
  const repricing = startRepriceJobs(deps);
  const toolCalls = startToolCallExpiry(deps);
  const rollups = keepRollups(databaseUrl, deps, clickhouse !== null);
  const copies =
    clickhouse === null || deps.copies === null
      ? null
      : keepCopies({ databaseUrl, clickhouse }, { ...deps, copies: deps.copies });
  return {
    async stop() {
      // None begins a round while others end theirs.
      for (const it of [partitions, replica, reconciler, toolCalls]) it?.stop();
      for (const it of [digests, bills, uploads, fetchedPrices, alerts]) void it?.stop();
      await Promise.all([rollups.stop(), copies?.stop(), repricing.stop()]);
    },
  };
}
