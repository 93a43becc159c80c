import { systemClock } from "#shared/clock.ts";
import { isSupervised, reachDirectly, settingsOrExit } from "#shared/env.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { createLog, errorFields } from "#shared/log.ts";
import { onStopSignal } from "#shared/stop-signal.ts";
import { startGithubApp } from "./app.ts";

const config = settingsOrExit(() => readGithubAppConfig());
reachDirectly();
const log = createLog("github-app", config.logLevel);

// A stray rejection must not end the process; accepted deliveries are in the inbox.
process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));

const { host, port } = config;
const { server, stop, credentials } = await startGithubApp({ config, clock: systemClock, log });
try {
  server.listen({ hostname: host, port });
} catch (error) {
  log.error({ ...errorFields(error), host, port }, "cannot listen");
  process.exit(1);
}
const { webhookSecrets, identity } = credentials();
log.info({ host, port, webhooks: webhookSecrets.length > 0, appId: identity?.app.id ?? null }, "listening");

onStopSignal(isSupervised(), (reason) => {
  log.info({ reason }, "stopping");
  void stop().then(() => {
    log.info({}, "stopped");
    process.exit(0);
  });
});
