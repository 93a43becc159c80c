import { Elysia } from "elysia";
import type { Registry } from "prom-client";

export type MetricsDeps = {
  metrics: Pick<Registry, "contentType" | "metrics">;
  /** Throws unless the request carries the admin key, or the metrics are public. */
  authorizeMetrics(request: Request): Promise<void>;
};

const DETAIL = {
  summary: "Prometheus metrics",
  description: "Needs no key with METRICS_PUBLIC.",
  tags: ["Operation"],
  security: [{ adminKey: [] }],
  responses: {
    "200": { description: "Prometheus' text format." },
    "401": { description: "No valid admin key." },
  },
};

/** `GET /metrics` in Prometheus's text format. Label values come from closed lists, so clients cannot add new ones. */
export const metrics = (deps: MetricsDeps) =>
  new Elysia({ name: "surface.metrics" }).get(
    "/metrics",
    async ({ request }) => {
      await deps.authorizeMetrics(request);
      return new Response(await deps.metrics.metrics(), {
        headers: { "content-type": deps.metrics.contentType },
      });
    },
    { detail: DETAIL },
  );
