import { systemClock } from "#shared/clock.ts";
import { isSupervised, settingsOrExit, takesOver } from "#shared/env.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { listenOn } from "#shared/listen.ts";
import { createLog, errorFields, logUncaught } from "#shared/log.ts";
import { reachDirectly } from "#shared/loopback.ts";
import { onStopSignal, REPLACED, sayReady } from "#shared/stop-signal.ts";
import { startGithubApp } from "./app.ts";

const HANDOVER_MS = 2000;

const config = settingsOrExit(() => readGithubAppConfig());
reachDirectly();
const log = createLog("github-app", config.logLevel);

// Accepted deliveries are in the inbox.
logUncaught(log, () => process.exit(1));

const { host, port } = config;
const { server, stop, credentials } = await startGithubApp({ config, clock: systemClock, log });
try {
  const handover = { sharesPort: isSupervised(), takesOver: takesOver(), processes: 1 };
  await listenOn({ hostname: host, port }, handover, (options) => server.listen(options));
} catch (error) {
  log.error({ ...errorFields(error), host, port }, "cannot listen");
  process.exit(1);
}
const { webhookSecrets, identity } = credentials();
log.info({ host, port, webhooks: webhookSecrets.length > 0, appId: identity?.app.id ?? null }, "listening");
sayReady();

onStopSignal(isSupervised(), (reason) => {
  log.info({ reason }, "stopping");
  // Requests under way to this process when another one replaced it have arrived by then.
  const waited = reason === REPLACED ? Bun.sleep(HANDOVER_MS) : Promise.resolve();
  void waited.then(stop).then(() => {
    log.info({}, "stopped");
    process.exit(0);
  });
});
