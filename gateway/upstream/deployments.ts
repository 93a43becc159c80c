import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import type { Target } from "../call.ts";
import type { DeploymentState } from "../routing/deployments.ts";
import type { Attempt } from "./attempt.ts";
import { deploymentKey, type OnFailure, openCooldowns, type TargetState } from "./cooldown.ts";

/** This process's data on the deployments that it calls: which ones fail, and how busy they are. */
export type Deployments = DeploymentState & {
  /** A call is about to be sent. */
  began(target: Target): void;
  /** It was answered or failed; an answer keeps its deployment busy until `finished`. */
  ended(attempt: Attempt): void;
  /** The answer has ended, however it did. */
  finished(target: Target): void;
  /** The targets that have failed and have not answered since. */
  states(): TargetState[];
};

export function openDeployments(clock: Clock, onFailure: OnFailure = () => undefined): Deployments {
  const cooldowns = openCooldowns(clock, onFailure);
  // Of deployments that share calls, and only while they answer some.
  const busy = new Map<string, number>();
  const count = (target: Target, by: 1 | -1) => {
    if (target.weight == null) return;
    const key = deploymentKey(target);
    const calls = (busy.get(key) ?? 0) + by;
    if (calls > 0) busy.set(key, calls);
    else busy.delete(key);
  };
  return {
    pausedUntil: cooldowns.pausedUntil,
    callsInFlight: (target) => busy.get(deploymentKey(target)) ?? 0,
    began(target) {
      cooldowns.began(target);
      count(target, 1);
    },
    ended(attempt) {
      cooldowns.ended(attempt);
      if (attempt.kind === "failed") count(attempt.target, -1);
    },
    finished: (target) => count(target, -1),
    states: cooldowns.states,
  };
}

/** Adds the failures of providers to the metrics: how many, and which targets are paused for them. */
export function meteredDeployments(clock: Clock, registry: Registry): Deployments {
  const failures = new Counter({
    name: "tallygate_provider_failures_total",
    help: "Attempts at a provider that failed or were refused, by cause.",
    labelNames: ["provider", "cause"],
    registers: [registry],
  });
  const deployments = openDeployments(clock, (provider, cause) => failures.inc({ provider, cause }));
  // A provider that never failed has a zero, so that the first failure is an increase.
  const called = new Set<string>();
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
  return {
    ...deployments,
    began(target) {
      const { name } = target.provider;
      if (!called.has(name)) failures.inc({ provider: name, cause: "other" }, 0);
      called.add(name);
      deployments.began(target);
    },
  };
}
