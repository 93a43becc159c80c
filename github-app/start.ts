import { openDatabase, within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { app } from "./app.ts";
import { githubByInstallation } from "./feedback/clients.ts";
import { startJobs } from "./feedback/jobs.ts";
import { createClients } from "./github/clients.ts";
import { createCredentials } from "./github/credentials.ts";
import { followIdentity } from "./github/follow-identity.ts";
import type { AppIdentity } from "./github/octokit.ts";
import { reportRegistration } from "./github/registration.ts";
import { startWorker, type WORKER_TIMING } from "./inbox/worker.ts";
import { type AppCounters, createMetrics } from "./metrics.ts";
import { outcomes, receiveBy, startProbot } from "./probot-app.ts";
import { type RECONCILE_TIMING, startReconciler } from "./reconcile/reconciler.ts";
import { type REDELIVER_TIMING, startRedeliverer } from "./redelivery/redeliverer.ts";
import { keepRounds } from "./rounds.ts";
import { createStore } from "./stores/inbox-store.ts";
import { readAppSettings } from "./stores/settings-store.ts";

export type StartOptions = {
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

/** Time that each part has to end after a signal to stop. */
const DRAIN_MS = 5_000;
/** Without a database the App starts all the same, and looks again later. */
const FIRST_LOOK_MS = 2_000;
/** Between looks for a registration that another process made. */
const CREDENTIALS_MS = 5_000;
/** After it, every process has looked. */
const SPREAD_MS = CREDENTIALS_MS + 2_000;

/** The App's parts, running. `stop` loses nothing: what was answered 202 is in the inbox. */
export async function startGithubApp({ config, clock, log, timing = {}, unpaced = false }: StartOptions) {
  const database = openDatabase(config.databaseUrl, {
    name: "github-app",
    max: 4,
    statementTimeoutMs: 4_000,
  });
  const credentials = createCredentials({ database, config, clock, log });
  await within(FIRST_LOOK_MS, credentials.refresh()).catch(() => undefined);
  const ending = new AbortController();
  const identity = () => credentials.current().identity;
  const clients = createClients(identity, { signal: ending.signal, unpaced });
  const { registry, counters } = createMetrics();

  const probot = await startProbot(
    { ...config, app: identity()?.app ?? null },
    log,
    outcomes({ database, clock }),
  );
  const hand = countInHand(counters);
  const work = { database, clock, log, receive: receiveBy(probot), inHand: hand.count };
  const worker = startWorker(work, timing.worker);
  const asking = { database, clock, log, clients, counters };
  const reconciler = startReconciler(asking, timing.reconcile);
  const redeliverer = startRedeliverer(asking, timing.redeliver);
  const follower = followIdentity(identity, (it) => startFeedback(it, { database, clock, log }));
  const watch = keepRounds({
    log,
    pollMs: CREDENTIALS_MS,
    round: async () => {
      await credentials.refresh();
      await follower.look();
      return false;
    },
  });

  const server = app({
    secrets: credentials.webhookSecrets,
    store: createStore(database),
    stored: (event) => {
      worker.wake();
      if (event.startsWith("installation")) reconciler.wake();
    },
    arrived: hand.arrived,
    answered: hand.answered,
    changed: () => {
      watch.wake();
      reconciler.wake();
    },
    ping: () => database.sql`select 1`,
    spreadMs: timing.spreadMs ?? SPREAD_MS,
    ...{ clock, log, config, database, credentials, registry },
  });
  const parts = [worker, reconciler, redeliverer, watch, follower];
  const stop = async () => {
    ending.abort();
    await endIn(log, async () => void (await server.stop()));
    for (const part of parts) await endIn(log, part.stop);
    await database.close(1);
  };
  return { server, stop, credentials: credentials.current };
}

/** Deliveries between their arrival and their answer. */
function countInHand({ deliveries }: AppCounters) {
  let inHand = 0;
  return {
    count: () => inHand,
    arrived: () => {
      inHand++;
    },
    answered: (answer: string) => {
      inHand--;
      deliveries.inc({ answer });
    },
  };
}

async function endIn(log: Log, end: () => Promise<void>): Promise<void> {
  await within(DRAIN_MS, end()).catch((error: unknown) => {
    log.warn(errorFields(error), "did not stop in time");
  });
}

type FeedbackDeps = Pick<Parameters<typeof startJobs>[0], "database" | "clock" | "log">;

function startFeedback(identity: AppIdentity, deps: FeedbackDeps) {
  void reportRegistration(identity, () => readAppSettings(deps.database), deps.log);
  return startJobs({ ...deps, appId: identity.app.id, github: githubByInstallation(identity) });
}
