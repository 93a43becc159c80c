import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { readMark } from "#gateway/recorder/mark-file.ts";
import { atEnd } from "./at-end.ts";
import { startChild } from "./child.ts";
import { ADMIN_KEY, adminCall, type GatewayProcess, MASTER_KEY } from "./gateway-process.ts";
import { freePort } from "./ports.ts";
import { testDatabase } from "./postgres.ts";
import { childrenRunning } from "./processes.ts";
import { until } from "./until.ts";

const START = join(import.meta.dir, "../../gateway/cli/start.ts");

export type WorkersProcess = GatewayProcess & {
  /** The processes of the gateway, the oldest first. */
  workers(): number[];
  /** Calls that this worker has recorded since its start. */
  recordedBy(worker: number): number;
  /** How often the log has this text. */
  logged(text: string): number;
};

/**
 * A real launcher that runs the gateway as several workers, all of which serve. `kill` kills its oldest worker with -9,
 * and `start` waits until another one has taken its place; `pid` is the launcher's.
 */
export async function startWorkers(
  count: number,
  options: { dataDir: string; databaseUrl?: string; env?: Record<string, string> },
): Promise<WorkersProcess> {
  const databaseUrl = options.databaseUrl ?? (await testDatabase({ ofGateway: true })).url;
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const launcher = await startChild([process.execPath, "--no-env-file", START], {
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: databaseUrl,
    DATA_DIR: options.dataDir,
    PORT: String(port),
    GITHUB_APP_PORT: String(freePort()),
    WORKERS: String(count),
    ADMIN_KEY,
    MASTER_KEY,
    REFUSALS_PER_MINUTE: "1000000",
    // As in `gatewaySettings`: workers whose Postgres is slow would each count for themselves.
    LIMITS_AWAY_AFTER_MS: "5000",
    ...options.env,
  });
  atEnd(() => launcher.end("SIGTERM"));
  const logged = (text: string) => launcher.log().split(text).length - 1;
  const workers = () => childrenRunning(launcher.pid, "gateway/main.ts").toSorted((a, b) => a - b);
  const untilAllServe = (restarts: number) =>
    until(() => {
      if (launcher.hasExited()) throw new Error(launcher.log());
      return logged("gateway listens") >= count + restarts && logged("Tallygate is ready.") === 1;
    });
  await untilAllServe(0);
  let killed = 0;
  return {
    url,
    databaseUrl,
    admin: (method, path, body) => adminCall(url, { method, path, body }),
    pid: () => launcher.pid,
    log: launcher.log,
    logged,
    workers,
    recordedBy: (worker) => readMark(segmentOf(worker))?.settled ?? 0,
    async kill() {
      const [oldest] = workers();
      if (oldest === undefined) throw new Error("no worker runs");
      process.kill(oldest, "SIGKILL");
      killed += 1;
    },
    async start() {
      await untilAllServe(killed);
    },
    stop: () => launcher.end("SIGTERM"),
    async caughtUp() {
      await fetch(`${url}/readyz`, { keepalive: false }).then((answer) => answer.text());
    },
  };
}

/** The spool file that a process writes. */
function segmentOf(pid: number): string {
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const [, file] = /^(.*\/segment-[0-9a-f-]{36}\.db)$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
    if (file !== undefined) return file;
  }
  throw new Error(`process ${pid} writes no spool`);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
