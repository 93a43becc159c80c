import { Counter, Gauge, type Registry } from "prom-client";
import type { Overruns } from "../../limits/overruns.ts";

export type LimitMetrics = {
  /** A call was admitted without the database. */
  admittedAway(): void;
  /** A key was found over this limit once the database was back. */
  overrun(limit: keyof Overruns): void;
};

/** What limits do while the database is away. No label comes from a client. */
export function limitMetrics(registry: Registry, isAway: () => boolean): LimitMetrics {
  new Gauge({
    name: "tallygate_limits_away",
    help: "1 while keys' limits are counted here, because the database cannot be reached.",
    aggregator: "max",
    registers: [registry],
    collect() {
      this.set(isAway() ? 1 : 0);
    },
  });
  const admitted = new Counter({
    name: "tallygate_limits_away_calls_total",
    help: "Calls of keys with limits that were admitted while the database was away.",
    registers: [registry],
  });
  const over = new Counter({
    name: "tallygate_limit_overruns_total",
    help: "Keys that this gateway found over a limit after the database had been away.",
    labelNames: ["limit"],
    registers: [registry],
  });
  return { admittedAway: () => admitted.inc(), overrun: (limit) => over.inc({ limit }) };
}
