import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import { type Deployments, openDeployments } from "./deployments.ts";

/** Adds the failures of providers to the metrics: how many, and which targets are paused for them. */
export function meteredDeployments(clock: Clock, registry: Registry): Deployments {
  const failures = new Counter({
    name: "tallygate_provider_failures_total",
    help: "Attempts at a provider that failed or were refused, by cause.",
    labelNames: ["provider", "cause"],
    registers: [registry],
  });
  const deployments = openDeployments(clock, (provider, cause) => failures.inc({ provider, cause }));
  new Gauge({
    name: "tallygate_provider_paused",
    help: "Targets that are paused after failures, by their state: open, or half_open while a call tries one.",
    labelNames: ["provider", "credential", "model", "state"],
    aggregator: "max",
    registers: [registry],
    collect() {
      this.reset();
      for (const { provider, credential, model, state } of deployments.states()) {
        if (state !== "closed") this.set({ provider, credential, model: model ?? "", state }, 1);
      }
    },
  });
  return deployments;
}
