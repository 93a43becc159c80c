import { join } from "node:path";
import { systemClock } from "#shared/clock.ts";
import { settingsOrExit } from "#shared/env.ts";
import { createLog, errorFields } from "#shared/log.ts";
import { reachDirectly } from "#shared/loopback.ts";
import { readLauncherConfig } from "../config.ts";
import { HELP } from "./start/help.ts";
import { launch } from "./start/launch.ts";
import { stopRequests } from "./start/stop-requests.ts";

const ROOT = join(import.meta.dir, "../..");
/** Exit status for an invalid command line. */
const USAGE = 2;

const say = (text: string) => void process.stderr.write(`${text}\n`);

const words = process.argv.slice(2);
if (words.some((word) => word === "--help" || word === "-h")) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (words.length > 0) {
  process.stderr.write(`Unknown argument: ${words.join(" ")}\n\n${HELP}`);
  process.exit(USAGE);
}

// Before 1.4 Bun resent a POST when its connection broke, so a call could be billed twice.
if (!Bun.semver.satisfies(Bun.version, ">=1.4.0")) {
  say(`Bun ${Bun.version} is too old; 1.4 or later is needed, e.g. npx -y bun@1.4.5 run start`);
  process.exit(1);
}

const config = settingsOrExit(readLauncherConfig);
reachDirectly([config.host]);
const log = createLog("launcher", config.logLevel);
// Whatever goes wrong here, the child processes must stay supervised.
process.on("unhandledRejection", (error) => log.error(errorFields(error), "unhandled rejection"));
const requests = stopRequests();
try {
  const exitCode = await launch({
    config,
    scripts: { gateway: join(ROOT, "gateway/main.ts"), githubApp: join(ROOT, "github-app/main.ts") },
    requests,
    log,
    clock: systemClock,
    say,
  });
  process.exit(exitCode);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
