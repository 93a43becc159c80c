import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";
import { onStopSignal } from "#shared/stop-signal.ts";
import { generate } from "./generate.ts";
import { seconds } from "./measure.ts";

/** Mid-day, so that every window has an edge within an hour. */
export const NOW = new Date("2026-11-18T15:37:12.345Z");

/**
 * A Postgres of its own with so many records, rolled up; `kept` is a directory that keeps it and is taken up again. It ends
 * with the process, too, if that is asked to stop.
 */
export type Filled = {
  url: string;
  sql: postgres.Sql;
  /** What all its processes, those that ended too, have taken of the processor so far, in milliseconds; 0 but on Linux. */
  cpuMs(): number;
  stop(): Promise<void>;
};

const running = new Set<() => Promise<void>>();
onStopSignal(false, () => void Promise.all([...running].map((stop) => stop())).then(() => process.exit(1)));

export async function filled(records: number, kept?: string): Promise<Filled> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), "rollups-bench-"));
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
  const cpuMs = () => (process.platform === "linux" ? cpuOf(database.data) : 0);
  const stop = async () => {
    running.delete(stop);
    await sql.end({ timeout: 1 });
    await database.stop();
    if (kept === undefined) rmSync(directory, { recursive: true });
  };
  running.add(stop);
  try {
    const updated = await seconds(async () => await migrate(database.url));
    if (updated > 2) console.log(`updated the tables in ${updated.toFixed(0)} s`);
    const [isFilled, isSummed] = [join(directory, "filled"), join(directory, "summed")];
    if (!existsSync(isFilled)) {
      const made = await seconds(async () => await generate(sql, records, NOW));
      writeFileSync(isFilled, "");
      console.log(`filled in ${made.toFixed(0)} s`);
    }
    await sumUp({ url: database.url, sql, cpuMs }, existsSync(isSummed));
    writeFileSync(isSummed, "");
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: database.url, sql, cpuMs, stop };
}

/** All, or what an update of the tables has left to be made in a database that was taken up again. */
async function sumUp({ url, sql, cpuMs }: Omit<Filled, "stop">, isSummed: boolean): Promise<void> {
  const rollups = openRollups({ url });
  const before = cpuMs();
  const taken = await seconds(async () => await (isSummed ? rollups.catchUp(NOW) : rollups.rebuild(NOW)));
  const cpu = (cpuMs() - before) / 1000;
  await rollups.close();
  if (isSummed && taken < 1) return;
  await sql.unsafe("vacuum analyze");
  console.log(`rolled up in ${taken.toFixed(0)} s, of which Postgres computed ${cpu.toFixed(0)} s`);
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
