import { AggregatorRegistry, type Registry } from "prom-client";
import { GatewayError } from "../errors.ts";
import type { Fellows } from "./fellows.ts";
import { isMetrics, type Metrics } from "./messages.ts";

/** Adds up the figures of several workers as each metric's `aggregator` says. */
export const merged = (figures: readonly Metrics[]): Registry => AggregatorRegistry.aggregate([...figures]);

/** What is left of a worker that has ended: what it counted, but not its present state. */
export async function retired(figures: readonly Metrics[]): Promise<Metrics> {
  const all: unknown = await merged(figures).getMetricsAsJSON();
  return isMetrics(all) ? all.filter(({ type }) => type === "counter" || type === "histogram") : [];
}

export type Scrape = Pick<Registry, "contentType" | "metrics">;

/** The metrics of all workers of the gateway, in whichever of them. */
export const scrapeOfAll = (own: Registry, fellows: Fellows): Scrape => ({
  contentType: own.contentType,
  async metrics() {
    const figures = (await fellows.ask("metrics")).filter(isMetrics);
    // A part of the figures would look as if calls had been taken back.
    if (figures.length === 0)
      throw new GatewayError("internal", undefined, new Error("no worker gave its figures"));
    return merged(figures).metrics();
  },
});
