import { openDatabase, within } from "#drizzle/database.ts";
import { systemClock } from "#shared/clock.ts";
import { isSupervised, settingsOrExit } from "#shared/env.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { createLog, errorFields } from "#shared/log.ts";
import { whenAskedToStop } from "#shared/stopping.ts";
import { app } from "./app.ts";
import { githubByInstallation } from "./feedback/clients.ts";
import { startErrands } from "./feedback/errands.ts";
import { createStore } from "./inbox-store.ts";
import { outcomes, receiveBy, startProbot } from "./probot-app.ts";
import { reportRegistration } from "./registration.ts";
import { startWorker } from "./worker.ts";

/** Time that deliveries in hand have to be answered after a signal to stop. */
const DRAIN_MS = 5_000;

const config = settingsOrExit(() => readGithubAppConfig());
const log = createLog("github-app", config.logLevel);
const clock = systemClock;
const database = openDatabase(config.databaseUrl, { name: "github-app", max: 4, statementTimeoutMs: 4_000 });

// One stray rejection must not end the process; what was accepted is in the inbox.
process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));

const probot = await startProbot(config, log, outcomes({ database, clock }));
const worker =
  config.webhookSecrets.length > 0 ? startWorker({ database, clock, log, receive: receiveBy(probot) }) : null;

const server = app({
  secrets: config.webhookSecrets,
  store: createStore(database),
  stored: () => worker?.wake(),
  clock,
  log,
  webhookPath: config.webhookPath,
  appId: config.app?.id ?? null,
  ping: () => database.sql`select 1`,
});

try {
  server.listen({ hostname: config.host, port: config.port });
} catch (error) {
  log.error({ ...errorFields(error), host: config.host, port: config.port }, "cannot listen");
  process.exit(1);
}
log.info(
  {
    host: config.host,
    port: config.port,
    webhooks: config.webhookSecrets.length > 0,
    appId: config.app?.id ?? null,
  },
  "listening",
);

const errands = config.app
  ? startErrands({
      database,
      clock,
      log,
      appId: config.app.id,
      github: githubByInstallation({ app: config.app, apiUrl: config.apiUrl }),
    })
  : null;
if (config.app) void reportRegistration({ app: config.app, apiUrl: config.apiUrl }, log);

whenAskedToStop(isSupervised(), (reason) => {
  log.info({ reason }, "stopping");
  void stop();
});

/** Nothing is lost by stopping: what was answered 202 is in the inbox. */
async function stop(): Promise<void> {
  try {
    await within(DRAIN_MS, Promise.resolve(server.stop()));
    await within(DRAIN_MS, worker?.stop() ?? Promise.resolve());
    await within(DRAIN_MS, errands?.stop() ?? Promise.resolve());
  } catch (error) {
    log.warn(errorFields(error), "did not stop in time");
  }
  await database.close(1);
  log.info({}, "stopped");
  process.exit(0);
}
