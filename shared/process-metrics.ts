import { readdirSync } from "node:fs";
import type { Registry } from "prom-client";
import { readCounter, readGauge } from "./metrics.ts";
import { VERSION } from "./version.ts";

/** This process and its version, under the names that Prometheus' client libraries share. */
export function processMetrics(registry: Registry): void {
  const startedSeconds = Date.now() / 1000 - process.uptime();
  const gauge = (name: string, help: string, read: () => number) => readGauge(registry, { name, help }, read);
  readCounter(
    registry,
    { name: "process_cpu_seconds_total", help: "User and system processor time in seconds." },
    () => {
      const { user, system } = process.cpuUsage();
      return [[(user + system) / 1e6]];
    },
  );
  gauge("process_resident_memory_bytes", "Resident memory in bytes.", () => process.memoryUsage.rss());
  readGauge(
    registry,
    { name: "process_start_time_seconds", help: "Start as seconds since 1970.", aggregator: "max" },
    () => startedSeconds,
  );
  if (process.platform === "linux") {
    gauge("process_open_fds", "Open file descriptors.", () => readdirSync("/proc/self/fd").length);
  }
  readCounter(
    registry,
    {
      name: "tallygate_build_info",
      help: "The version that runs, with the value 1 for each process.",
      labelNames: ["version", "bun"],
    },
    () => [[1, VERSION, Bun.version]],
  );
}
