import { CONFIGURATION_EXIT_CODE, settingsOrExit } from "#shared/env.ts";
import { createLog, logUncaught } from "#shared/log.ts";
import { reachDirectly } from "#shared/loopback.ts";
import { startRequestThread } from "#shared/request-thread.ts";
import { mayProceed, onStopSignal, REPLACED, sayPrepared, sayReady } from "#shared/stop-signal.ts";
import { readGatewayConfig } from "./config.ts";
import { openGateway } from "./gateway.ts";
import { WrongMasterKey } from "./stores/master-key-check.ts";

const config = settingsOrExit(readGatewayConfig);
reachDirectly();
await startRequestThread();
const log = createLog("gateway", config.logLevel);

logUncaught(log, () => void end(1));

/** Ends the process: immediately before the gateway is open, afterwards once it has stopped. */
let end = async (exitCode: number): Promise<void> => process.exit(exitCode);

const gateway = await openGateway(config, log).catch(giveUp("The gateway cannot start"));
end = async (exitCode) => {
  await gateway.stop();
  process.exit(exitCode);
};
onStopSignal(config.supervised, (reason) => {
  gateway.lifecycle.replaced = reason === REPLACED;
  void end(0);
});

// Who is alone listens at once, and says what it waits for. Who joins others or replaces them takes calls once it can
// serve them; until then the others do. Calls go on from the last known configuration while the database is away.
if (!(config.takesOver || config.joins)) await gateway.listen();
if (!config.takesOver) void gateway.warmed.then(sayPrepared);
const database = gateway.databaseReady().catch(giveUp("The gateway cannot start"));
if (config.joins) await gateway.warmed.then(gateway.listen);
await database;
if (config.takesOver) await mayProceed().then(gateway.listen);
sayReady();
gateway.startJobs();

function giveUp(what: string) {
  return (error: unknown): never => {
    process.stderr.write(`${what}: ${error instanceof Error ? error.message : error}\n`);
    process.exit(error instanceof WrongMasterKey ? CONFIGURATION_EXIT_CODE : 1);
  };
}
