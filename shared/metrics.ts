import { Counter, Gauge, type Registry } from "prom-client";

type Facts = { name: string; help: string };
type GaugeFacts = Facts & { aggregator?: "sum" | "max" };

/** A value, and the values of its labels in their order. */
export type MetricSample = readonly [value: number, ...labels: string[]];

/** A counter whose values are kept elsewhere as plain numbers, and read at each scrape. */
export const readCounter = (
  registry: Registry,
  { labelNames = [], ...facts }: Facts & { labelNames?: string[] },
  read: () => Iterable<MetricSample>,
) =>
  new Counter({
    ...facts,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, ...labels] of read()) this.labels(...labels).inc(value);
    },
  });

/** A gauge that is read at each scrape. `aggregator`: how the values of several workers become one. */
export const readGauge = (registry: Registry, facts: GaugeFacts, read: () => number) =>
  new Gauge({
    ...facts,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
