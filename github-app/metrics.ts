import { Counter, Registry } from "prom-client";
import { readGauge } from "#shared/metrics.ts";
import { processMetrics } from "#shared/process-metrics.ts";

/** The App's counters since its start, and the waits that GitHub asked for. `waits`: those not over, in milliseconds. */
export function createMetrics(waits: () => number[]) {
  const registry = new Registry();
  processMetrics(registry);
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `tallygate_github_${name}`, help, labelNames, registers: [registry] });
  const gauge = (name: string, help: string, read: () => number) =>
    readGauge(registry, { name: `tallygate_github_${name}`, help }, read);
  const counts = {
    pulls: counter("reconciled_pull_requests_total", "Pull requests read from GitHub."),
    reviews: counter("reconciled_reviews_total", "Reviews read from GitHub."),
    redelivered: counter("redeliveries_total", "Failed deliveries whose redelivery was requested."),
    waits: counter("waits_total", "Times that GitHub asked this process not to be called for a while."),
  };
  gauge("waiting", "Installations that GitHub asked not to be called for now.", () => waits().length);
  gauge(
    "wait_seconds",
    "Longest time until all of them may be called again.",
    () => Math.max(0, ...waits()) / 1000,
  );
  return {
    registry,
    deliveries: counter("deliveries_total", "Webhook deliveries by answer.", ["answer"]),
    count: (of: keyof typeof counts, by: number) => counts[of].inc(by),
  };
}
