import {
  type Attributes,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Telemetry, TelemetrySettings } from "./telemetry.ts";

/** Spans that wait for the collector; beyond that they are dropped, and calls never wait. */
const SPANS_MAX = 20_000;
const SCOPE = "tallygate";

/** Exports a span and metrics of each call, in batches, by OTLP/HTTP. */
export function startExport(settings: TelemetrySettings, onFault: (error: unknown) => void): Telemetry {
  setGlobalErrorHandler(onFault);
  const resource = resourceFromAttributes({ "service.name": settings.serviceName });
  const at = (path: string) => ({ url: settings.endpoint + path, headers: settings.headers });
  const traces = new TracerProvider({
    resource,
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter(at("/v1/traces")), maxQueueSize: SPANS_MAX }),
    ],
  });
  const metrics = openMetrics(resource, new OTLPMetricExporter(at("/v1/metrics")));
  const spans = openSpans(traces);
  return {
    carry: spans.begin,
    ended(row) {
      spans.end(row);
      metrics.count(row);
    },
    async close() {
      await Promise.allSettled([traces.shutdown(), metrics.close()]);
    },
  };
}

function openSpans(traces: TracerProvider) {
  const tracer = traces.getTracer(SCOPE);
  const propagator = new W3CTraceContextPropagator();
  const running = new Map<string, Span>();
  const options = { kind: SpanKind.SERVER };
  return {
    begin({ id, headers }: Parameters<Telemetry["carry"]>[0]): Record<string, string> {
      const caller = { traceparent: headers.get("traceparent"), tracestate: headers.get("tracestate") };
      const parent = propagator.extract(ROOT_CONTEXT, caller, defaultTextMapGetter);
      // Several targets may be tried in turn.
      const span = running.get(id) ?? tracer.startSpan("call", options, parent);
      running.set(id, span);
      const carried = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), carried, defaultTextMapSetter);
      return carried;
    },
    end(row: RequestRow): void {
      const span =
        running.get(row.id) ?? tracer.startSpan("call", { ...options, startTime: new Date(row.startedAt) });
      running.delete(row.id);
      span.updateName(row.model == null ? operationOf(row) : `${operationOf(row)} ${row.model}`);
      span.setAttributes(attributesOf(row));
      if (errorOf(row) !== null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Bucket boundaries of OpenTelemetry's conventions for generative AI: 0.01 to 81.92 s by twos, 1 to 4^13 tokens by fours. */
const DURATIONS = Array.from({ length: 14 }, (_, at) => 2 ** at / 100);
const TOKENS = Array.from({ length: 14 }, (_, at) => 4 ** at);

function openMetrics(resource: Resource, exporter: OTLPMetricExporter) {
  const provider = new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  const meter = provider.getMeter(SCOPE);
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    description: "Duration of calls.",
    unit: "s",
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    description: "Tokens of calls.",
    unit: "{token}",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  return {
    count(row: RequestRow): void {
      const dimensions = dimensionsOf(row);
      if (row.latencyMs != null) duration.record(row.latencyMs / 1000, dimensions);
      for (const [type, count] of [
        ["input", row.inputTokens],
        ["output", row.outputTokens],
      ] as const) {
        if (count != null) tokens.record(count, { ...dimensions, "gen_ai.token.type": type });
      }
    },
    close: () => provider.shutdown(),
  };
}

/** Surfaces by the operation names of OpenTelemetry's conventions for generative AI; others keep their own name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "chat.completions": "chat",
  messages: "chat",
  responses: "chat",
  completions: "text_completion",
  embed_content: "embeddings",
};

const operationOf = ({ surface }: RequestRow): string => OPERATIONS[surface] ?? surface;

/** What metrics are counted by. */
const dimensionsOf = (row: RequestRow): Attributes =>
  known({
    "gen_ai.operation.name": operationOf(row),
    "gen_ai.provider.name": row.provider,
    "gen_ai.request.model": row.model,
    "error.type": errorOf(row),
  });

/** Facts of a record as attributes of its span. Money is text, because it is exact. */
const attributesOf = (row: RequestRow): Attributes =>
  known({
    ...dimensionsOf(row),
    "gen_ai.response.model": row.responseModel,
    "gen_ai.usage.input_tokens": row.inputTokens,
    "gen_ai.usage.output_tokens": row.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": row.cacheReadTokens,
    "gen_ai.usage.reasoning.output_tokens": row.reasoningTokens,
    "gen_ai.conversation.id": row.session,
    "http.response.status_code": row.status,
    "tallygate.request_id": row.id,
    "tallygate.surface": row.surface,
    "tallygate.state": row.state,
    "tallygate.route": row.route,
    "tallygate.channel": row.channel,
    "tallygate.client": row.client,
    "tallygate.team": row.teams?.[0],
    "tallygate.attempts": row.attempts,
    "tallygate.cost_usd": row.costUsd,
    "tallygate.cost_is_lower_bound": row.partial,
    "tallygate.time_to_first_token_ms": row.ttftMs,
  });

/** Why a call failed; null for one that did not. */
const errorOf = ({ state, errorCause, errorType }: RequestRow): string | null =>
  state === "ok" ? null : (errorCause ?? errorType ?? state);

/** Unknown facts have no attribute. */
function known(all: Record<string, string | number | boolean | null | undefined>): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(all)) if (value != null) attributes[name] = value;
  return attributes;
}
