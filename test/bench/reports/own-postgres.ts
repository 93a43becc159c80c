import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";
import { onStopSignal } from "#shared/stop-signal.ts";

/** A Postgres of its own, with the product's settings. It ends with the process, too, if that is asked to stop. */
export type OwnPostgres = {
  url: string;
  sql: postgres.Sql;
  directory: string;
  /** What all its processes, those that ended too, have taken of the processor so far, in milliseconds; 0 but on Linux. */
  cpuMs(): number;
  stop(): Promise<void>;
};

const running = new Set<() => Promise<void>>();
onStopSignal(false, () => void Promise.all([...running].map((stop) => stop())).then(() => process.exit(1)));

/** `kept` is a directory that keeps its data and is taken up again; else they go with it. */
export async function ownPostgres(kept?: string): Promise<OwnPostgres> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), "postgres-bench-"));
  mkdirSync(directory, { recursive: true });
  // Started as root, Postgres runs as another user.
  chmodSync(directory, 0o755);
  const database = await startEmbedded({
    dataDirectory: join(directory, "data"),
    systemRoot: join(directory, "system"),
    log: createLog("bench", "error"),
    clock: systemClock,
    progress: () => undefined,
  });
  const sql = connect(database.url, { name: "bench", max: 1, statementTimeoutMs: 0 });
  const stop = async () => {
    running.delete(stop);
    await sql.end({ timeout: 1 });
    await database.stop();
    if (kept === undefined) rmSync(directory, { recursive: true });
  };
  running.add(stop);
  const cpuMs = () => (process.platform === "linux" ? cpuOf(database.data) : 0);
  return { url: database.url, sql, directory, cpuMs, stop };
}

function cpuOf(data: string): number {
  const ticks = (pid: string) => {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    return rest.split(" ").slice(11, 15).map(Number);
  };
  const [pid = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const all = [pid, ...children].flatMap((one) => {
    try {
      return ticks(one);
    } catch {
      return [];
    }
  });
  return all.reduce((sum, tick) => sum + tick, 0) * 10;
}
