/**
 * What metering costs a call: requests per second and CPU time per request of nginx as a plain reverse proxy, of a bare
 * `Bun.serve` with `fetch`, of this gateway with metering on (of other checkouts' too, each with a `--former`), and of `@portkey-ai/gateway`, one after the other in several rounds of one run, all in
 * front of the same upstream served by nginx. Needs `nginx` and `wrk` on the machine.
 *
 *   bun test/bench/overhead/main.ts [--seconds 8] [--rounds 3] [--connections 32] [--stream] [--former CHECKOUT …]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CONTENDERS, former, startUpstream } from "./contenders.ts";
import { cpuSecondsOf, median, runWrk, type Sample } from "./measure.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
    stream: { type: "boolean", default: false },
    former: { type: "string", multiple: true, default: [] },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);

const directory = mkdtempSync(join(tmpdir(), "tallygate-overhead-"));
const upstream = await startUpstream(directory, values.stream);
const running = [];
try {
  const contenders = [...CONTENDERS, ...values.former.map(former)];
  for (const contender of contenders) running.push(await contender({ directory, upstream: upstream.url }));
  const samples = new Map<string, Sample[]>(running.map(({ name }) => [name, []]));
  for (const it of running) await runWrk(it, { seconds: 2, connections, stream: values.stream, directory });
  for (let round = 1; round <= rounds; round += 1) {
    for (const it of running) {
      const before = cpuSecondsOf(it.pids());
      const { requests, elapsedSeconds, errors } = await runWrk(it, {
        seconds,
        connections,
        stream: values.stream,
        directory,
      });
      const cpuSeconds = cpuSecondsOf(it.pids()) - before;
      samples.get(it.name)?.push({
        perSecond: requests / elapsedSeconds,
        cpuMicroseconds: (cpuSeconds / requests) * 1e6,
        errors,
      });
      console.error(`round ${round}: ${it.name} ${(requests / elapsedSeconds).toFixed(0)} requests/s`);
    }
  }
  print(samples);
} finally {
  for (const it of running) await it.stop();
  await upstream.stop();
  rmSync(directory, { recursive: true, force: true });
}
// The database server of the test databases would keep this process.
process.exit(0);

function print(samples: Map<string, Sample[]>): void {
  const rate = (name: string) => median((samples.get(name) ?? []).map((sample) => sample.perSecond));
  const rows = [...samples].map(([name, all]) => ({
    proxy: name,
    "requests/s": Math.round(rate(name)),
    "CPU µs/request": Math.round(median(all.map((sample) => sample.cpuMicroseconds))),
    "least µs": Math.round(Math.min(...all.map((sample) => sample.cpuMicroseconds))),
    "of nginx": (rate(name) / rate("nginx")).toFixed(2),
    "× Portkey": (rate(name) / rate("portkey")).toFixed(1),
    errors: all.reduce((sum, sample) => sum + sample.errors, 0),
  }));
  console.table(rows);
  console.log(
    `Median of ${rounds} interleaved rounds of ${seconds} s, ${connections} connections, wrk with one thread, ` +
      `${values.stream ? "a 20-event SSE answer" : "a 600-byte JSON answer"}, all on this one machine. ` +
      "CPU is user and system time of the proxy's own processes.",
  );
}
