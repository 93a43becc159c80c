import { findToken } from "#drizzle/admin-token.ts";
import { type Database, openDatabase, within } from "#drizzle/database.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type FEEDBACK_TIMING, startFeedback } from "./feedback/feedback.ts";
import { createCredentials } from "./github/credentials.ts";
import { openGithubAccess, SPREAD_MS } from "./github-access.ts";
import { outcomes, receiveBy, startProbot } from "./inbox/probot.ts";
import { startWorker, type WORKER_TIMING } from "./inbox/worker.ts";
import { createMetrics } from "./metrics.ts";
import { type RECONCILE_TIMING, startReconciler } from "./reconcile/reconciler.ts";
import { type REDELIVER_TIMING, startRedelivery } from "./redeliver/redeliver.ts";
import { createServer } from "./server.ts";
import { startReporter } from "./setup/reporter.ts";
import { createStore } from "./stores/inbox-store.ts";
import { createAnswerNotes } from "./stores/webhook-answers.ts";

export type AppOptions = Ambient & {
  config: GithubAppConfig;
  timing?: {
    worker?: typeof WORKER_TIMING;
    reconcile?: typeof RECONCILE_TIMING;
    redeliver?: typeof REDELIVER_TIMING;
    feedback?: typeof FEEDBACK_TIMING;
    spreadMs?: number;
  };
  /** See `ClientOptions`. */
  writeMs?: number;
};

/** Time for each part to stop. */
const STOP_MS_MAX = 5_000;
const DATABASE = { name: "github-app", max: 4, statementTimeoutMs: 4_000 };

/** The running parts of the App. `stop` loses nothing: every delivery that was answered with 202 is in the inbox. */
export async function startGithubApp({ config, clock, log, timing = {}, ...pace }: AppOptions) {
  const database = openDatabase(config.databaseUrl, DATABASE);
  const credentials = createCredentials({ database, config, clock, log });
  const ending = new AbortController();
  const shared = { database, clock, log };
  const metrics = createMetrics(() => clients()?.waits() ?? []);
  const asks = { signal: ending.signal, asked: () => metrics.count("waits", 1) };
  const access = await openGithubAccess({ ...shared, credentials, ...asks, ...pace });
  const { clients } = access;

  const app = credentials.current().identity?.app ?? null;
  const probot = await startProbot({ ...config, app }, log, outcomes({ database, clock }));
  let unanswered = 0;
  const inbox = { receive: receiveBy(probot), unanswered: () => unanswered };
  const worker = startWorker({ ...shared, ...inbox }, timing.worker);
  const feedback = startFeedback({ ...shared, clients }, timing.feedback);
  const reading = { ...shared, clients, count: metrics.count };
  const reconciler = startReconciler(reading, timing.reconcile);
  const redelivery = startRedelivery(reading, timing.redeliver);
  const watch = access.watch();
  const reporter = startReporter({ ...reading, config, credentials, spreadMs: timing.spreadMs ?? SPREAD_MS });

  const noted = createAnswerNotes(database, clock);
  const server = createServer({
    ...{ ...shared, config, credentials, registry: metrics.registry },
    ...{ secrets: credentials.webhookSecrets, readsMetrics: metricsReader(database, clock) },
    store: createStore(database),
    stored: (event) => {
      worker.wake();
      if (event.startsWith("installation")) reconciler.wake();
    },
    verified: (event) => {
      if (event === "ping") noted("ping");
      if (event !== "installation") return;
      clients()?.forgetTokens();
      feedback.permissionsChanged();
    },
    arrived: () => {
      unanswered++;
    },
    answered: (answer) => {
      unanswered--;
      metrics.deliveries.inc({ answer });
      noted(answer);
    },
    changed: () => {
      watch.wake();
      reconciler.wake();
      reporter.changed();
    },
    ping: () => database.sql`select 1`,
  });
  const stop = async () => {
    await stopPart(log, async () => void (await server.stop()));
    // What is being created on GitHub may finish; all other calls are repeated after a restart.
    for (const part of [worker, feedback]) await stopPart(log, part.stop);
    ending.abort();
    for (const part of [reconciler, redelivery, watch, reporter]) await stopPart(log, part.stop);
    await database.close(1);
  };
  return { server, stop, credentials: credentials.current };
}

const metricsReader =
  ({ db }: Database, clock: Clock) =>
  async (bearer: string): Promise<boolean> => {
    const token = await findToken(db, bearer, clock.now());
    return token?.role === "administrator" || token?.scopes?.includes("metrics") === true;
  };

async function stopPart(log: Log, stop: () => Promise<void>): Promise<void> {
  await within(STOP_MS_MAX, stop()).catch((error: unknown) => {
    log.warn(errorFields(error), "did not stop in time");
  });
}
