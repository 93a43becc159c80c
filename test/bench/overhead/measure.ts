import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Contender } from "./contenders.ts";

export type Sample = { perSecond: number; cpuMicroseconds: number; errors: number };
export type Load = { seconds: number; connections: number; stream: boolean; directory: string };

/** Kernel ticks per second (USER_HZ) on Linux. */
const TICKS = 100;

/** User and system time that the processes have used so far, in seconds. */
export function cpuSecondsOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export async function runWrk(contender: Contender, load: Load) {
  const script = join(load.directory, `${contender.name}.lua`);
  const body = JSON.stringify({
    model: contender.model,
    messages: [{ role: "user", content: "In one sentence: why is the sky blue?" }],
    ...(load.stream ? { stream: true } : {}),
  });
  const headers = Object.entries(contender.headers)
    .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
    .join("\n");
  await Bun.write(
    script,
    `wrk.method = "POST"\nwrk.body = '${body}'\nwrk.headers["content-type"] = "application/json"\n${headers}\n` +
      `done = function(summary) io.write(string.format("RESULT %d %d %d\\n", summary.requests, summary.duration, ` +
      `summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout)) end\n`,
  );
  const run = Bun.spawn(
    [
      "wrk",
      "-t1",
      `-c${load.connections}`,
      `-d${load.seconds}s`,
      "-s",
      script,
      `${contender.url}/v1/chat/completions`,
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  const output = await new Response(run.stdout).text();
  const [, requests, microseconds, errors] = /RESULT (\d+) (\d+) (\d+)/.exec(output) ?? [];
  if (!requests) throw new Error(`wrk gave no result:\n${output}`);
  return { requests: Number(requests), elapsedSeconds: Number(microseconds) / 1e6, errors: Number(errors) };
}
