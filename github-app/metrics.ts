import { Counter, Registry } from "prom-client";

/** What the App counts since it started. */
export type AppCounters = {
  deliveries: Counter<"answer">;
  reconciledPulls: Counter;
  reconciledReviews: Counter;
  redelivered: Counter;
};

export function createMetrics(): { registry: Registry; counters: AppCounters } {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `tallygate_github_${name}`, help, labelNames, registers: [registry] });
  return {
    registry,
    counters: {
      deliveries: counter("deliveries_total", "Webhook deliveries by how they were answered.", ["answer"]),
      reconciledPulls: counter("reconciled_pull_requests_total", "Pull requests read from GitHub."),
      reconciledReviews: counter("reconciled_reviews_total", "Reviews read from GitHub."),
      redelivered: counter("redeliveries_total", "Failed deliveries that GitHub was asked to deliver again."),
    },
  };
}
