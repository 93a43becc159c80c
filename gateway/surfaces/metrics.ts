import { Elysia } from "elysia";
import type { Registry } from "prom-client";

export type MetricsDeps = {
  metrics: Registry;
  /** Throws unless the request carries the admin key, or the metrics are public. */
  authorizeMetrics(request: Request): Promise<void>;
};

/** `GET /metrics` in Prometheus' text format. Label values come from closed lists, so no client can make new ones. */
export const metrics = (deps: MetricsDeps) =>
  new Elysia({ name: "surface.metrics" }).get(
    "/metrics",
    async ({ request }) => {
      await deps.authorizeMetrics(request);
      return new Response(await deps.metrics.metrics(), {
        headers: { "content-type": deps.metrics.contentType },
      });
    },
    { detail: { summary: "Prometheus metrics", tags: ["Operation"] } },
  );
