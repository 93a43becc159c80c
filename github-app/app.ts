import { openDatabase, within } from "#drizzle/database.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { startFeedback } from "./feedback/feedback.ts";
import { createClients } from "./github/clients.ts";
import { type CredentialStore, createCredentials } from "./github/credentials.ts";
import type { AppIdentity } from "./github/octokit.ts";
import { reportRegistration } from "./github/registration.ts";
import { outcomes, receiveBy, startProbot } from "./inbox/probot.ts";
import { startWorker, type WORKER_TIMING } from "./inbox/worker.ts";
import { type RECONCILE_TIMING, startReconciler } from "./reconcile/reconciler.ts";
import { type REDELIVER_TIMING, startRedelivery } from "./redeliver/redeliver.ts";
import { createMetrics, createServer } from "./server.ts";
import { createStore } from "./stores/inbox-store.ts";
import { readAppSettings } from "./stores/settings-store.ts";

export type AppOptions = {
  config: GithubAppConfig;
  clock: Clock;
  log: Log;
  timing?: {
    worker?: typeof WORKER_TIMING;
    reconcile?: typeof RECONCILE_TIMING;
    redeliver?: typeof REDELIVER_TIMING;
    spreadMs?: number;
  };
  /** See `GithubOptions`. */
  unpaced?: boolean;
};

/** Time for each part to stop. */
const STOP_MS_MAX = 5_000;
/** Without a database the App starts anyway, and reads its credentials later. */
const FIRST_READ_MS = 2_000;
/** Between reads of the credentials, which another process may have changed. */
const CREDENTIALS_MS = 5_000;
/** After this, every process has read them. */
const SPREAD_MS = CREDENTIALS_MS + 2_000;

/** The App's parts, running. `stop` loses nothing: every delivery that was answered with 202 is in the inbox. */
export async function startGithubApp({ config, clock, log, timing = {}, unpaced = false }: AppOptions) {
  const database = openDatabase(config.databaseUrl, {
    name: "github-app",
    max: 4,
    statementTimeoutMs: 4_000,
  });
  const credentials = createCredentials({ database, config, clock, log });
  await within(FIRST_READ_MS, credentials.refresh()).catch(() => undefined);
  const identity = () => credentials.current().identity;
  const ending = new AbortController();
  const clients = createClients(identity, { signal: ending.signal, unpaced });
  const metrics = createMetrics();

  const probotConfig = { ...config, app: identity()?.app ?? null };
  const probot = await startProbot(probotConfig, log, outcomes({ database, clock }));
  let unanswered = 0;
  const shared = { database, clock, log };
  const receive = receiveBy(probot);
  const worker = startWorker({ ...shared, receive, unanswered: () => unanswered }, timing.worker);
  const feedback = startFeedback({ ...shared, clients });
  const reading = { ...shared, clients, count: metrics.count };
  const reconciler = startReconciler(reading, timing.reconcile);
  const redelivery = startRedelivery(reading, timing.redeliver);
  const report = (known: AppIdentity) => reportRegistration(known, () => readAppSettings(database), log);
  const watch = watchCredentials(credentials, report, log);

  const server = createServer({
    ...{ ...shared, config, credentials, registry: metrics.registry },
    secrets: credentials.webhookSecrets,
    store: createStore(database),
    stored: (event) => {
      worker.wake();
      if (event.startsWith("installation")) reconciler.wake();
    },
    arrived: () => {
      unanswered++;
    },
    answered: (answer) => {
      unanswered--;
      metrics.deliveries.inc({ answer });
    },
    changed: () => {
      watch.wake();
      reconciler.wake();
    },
    ping: () => database.sql`select 1`,
    spreadMs: timing.spreadMs ?? SPREAD_MS,
  });
  const stop = async () => {
    await stopPart(log, async () => void (await server.stop()));
    // What is being created at GitHub may finish; all other calls are repeated after a restart.
    for (const part of [worker, feedback]) await stopPart(log, part.stop);
    ending.abort();
    for (const part of [reconciler, redelivery, watch]) await stopPart(log, part.stop);
    await database.close(1);
  };
  return { server, stop, credentials: credentials.current };
}

/** Reads credentials that another process may have changed, and reports each identity once. */
function watchCredentials(
  credentials: CredentialStore,
  report: (identity: AppIdentity) => Promise<void>,
  log: Log,
): Poller {
  let reported = "";
  return poll({
    log,
    pollMs: CREDENTIALS_MS,
    round: async () => {
      await credentials.refresh();
      const { identity } = credentials.current();
      const key = JSON.stringify(identity);
      if (identity && key !== reported) void report(identity);
      reported = key;
      return false;
    },
  });
}

async function stopPart(log: Log, stop: () => Promise<void>): Promise<void> {
  await within(STOP_MS_MAX, stop()).catch((error: unknown) => {
    log.warn(errorFields(error), "did not stop in time");
  });
}
