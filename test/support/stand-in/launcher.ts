import { join } from "node:path";
import { launch } from "#gateway/cli/start/launch.ts";
import { stopRequests } from "#gateway/cli/start/stop-requests.ts";
import { readLauncherConfig } from "#gateway/config.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";

// The launcher as `start.ts` runs it, with stand-ins for the two programs.
const config = readLauncherConfig();
try {
  const exitCode = await launch({
    config,
    scripts: {
      gateway: join(import.meta.dir, "gateway.ts"),
      githubApp: join(import.meta.dir, "github-app.ts"),
    },
    requests: stopRequests(),
    log: createLog("launcher", config.logLevel),
    clock: systemClock,
    say: (text) => void process.stderr.write(`${text}\n`),
  });
  process.exit(exitCode);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
