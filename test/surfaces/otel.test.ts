import { beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter,
} from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtoExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import type { Result, Spec } from "#shared/report.ts";
import { dumpOf, found } from "#test/support/canaries.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { histogram, metricsExport, type PointFacts, sum } from "#test/support/otlp.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const NOWHERE = "http://127.0.0.1:9";
let gateway: WiredGateway;

beforeAll(async () => {
  gateway = await wiredGateway(
    { chat: NOWHERE, messages: NOWHERE },
    { OTLP_BYTES_MAX: "1000000", LOG_LEVEL: "debug" },
  );
  for (const [model, input, output, cached, write] of [
    ["claude-fixture", "3", "15", "0.3", "3.75"],
    ["gpt-fixture", "2", "8", "0.5", null],
    ["gemini-fixture", "1", "4", "0.25", null],
  ]) {
    await gateway.admin("POST", "/prices", {
      model,
      effective_from: "2026-01-01",
      input,
      output,
      ...(cached && { cached_input: cached }),
      ...(write && { cache_write_5m: write }),
    });
  }
});
type Sent = { headers?: Record<string, string>; path?: string; method?: string };

function wireOf(body: object | string): string | Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return body;
  return Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body);
}

async function send(body: object | string, { headers = {}, path = "/metrics", method = "POST" }: Sent = {}) {
  const answer = await fetch(`${gateway.url}/otel/v1${path}`, {
    method,
    headers: { "content-type": "application/json", "x-gateway-key": gateway.secret, ...headers },
    body: wireOf(body),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

const ALL = { partialSuccess: { rejectedDataPoints: 0, errorMessage: "" } };
const tokens = (labels: PointFacts["labels"], facts: PointFacts = { asInt: 1 }) =>
  sum("gen_ai.client.token.usage", [{ ...facts, labels: { "gen_ai.token.type": "input", ...labels } }]);
const points = (session: string) =>
  gateway.sql`select * from agent_points where session = ${session} order by hash`;

async function query(spec: Partial<Spec>): Promise<Result> {
  const whole = {
    source: "agent_metrics",
    dimensions: [],
    filters: {},
    range: { from: null, to: new Date(Date.now() + 1000).toISOString() },
    compare: "none",
    view: "table",
    ...spec,
  };
  const answer = await fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ spec: whole }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Result;
}

describe("statuses", () => {
  const status = async (...sent: Parameters<typeof send>) => {
    const { status: found, body } = await send(...sent);
    expect(body).toEqual({ code: expect.any(Number), message: expect.any(String) });
    return found;
  };
  const EMPTY = { resourceMetrics: [] };

  test("200 always carries both members, also for an export of nothing", async () => {
    const { status: found, headers, body } = await send(EMPTY);
    expect([found, headers.get("content-type"), body]).toEqual([200, "application/json", ALL]);
  });

  test("400 for what is no export, 413 for what is too large, 415 for what is no JSON", async () => {
    expect(await status("{")).toBe(400);
    expect(await status({ resourceSpans: [] })).toBe(400);
    expect(await status("x".repeat(1_000_001))).toBe(413);
    expect(await status(gzipSync(Buffer.alloc(1_000_001)), { headers: { "content-encoding": "gzip" } })).toBe(
      413,
    );
    expect(await status("x", { headers: { "content-type": "application/x-protobuf" } })).toBe(415);
    expect(await status("x", { headers: { "content-encoding": "br" } })).toBe(415);
  });

  test("gzip and a charset are accepted", async () => {
    const headers = { "content-encoding": "gzip", "content-type": "Application/JSON; charset=utf-8" };
    expect((await send(gzipSync(JSON.stringify(EMPTY)), { headers })).status).toBe(200);
  });

  test("401 without a valid key in x-gateway-key, whatever the other headers carry", async () => {
    const bearer = { authorization: `Bearer ${gateway.secret}`, "x-api-key": gateway.secret };
    expect(await status(EMPTY, { headers: { "x-gateway-key": "", ...bearer } })).toBe(401);
    expect(await status(EMPTY, { headers: { "x-gateway-key": "tg_no", ...bearer } })).toBe(401);
    // The key is looked at before the body's type and size.
    expect(
      await status("x".repeat(1_000_001), { headers: { "x-gateway-key": "", "content-type": "text/plain" } }),
    ).toBe(401);
  });

  test("404 for logs, traces and whatever else, without a key and without reading the body", async () => {
    for (const path of ["/logs", "/traces", "/profiles", "/metrics/x"])
      expect(await status("{", { path })).toBe(404);
    const endless = new ReadableStream({ start: (it) => it.enqueue(Buffer.from("[")) });
    const answer = await fetch(`${gateway.url}/otel/v1/logs`, {
      method: "POST",
      body: endless,
    });
    expect(answer.status).toBe(404);
    await answer.body?.cancel();
  });

  test("404 while the receiver is switched off, before the key is looked at", async () => {
    await gateway.admin("PATCH", "/settings", { metrics_receiver: false });
    const answers = [await status(EMPTY), await status(EMPTY, { headers: { "x-gateway-key": "tg_no" } })];
    await gateway.admin("PATCH", "/settings", { metrics_receiver: true });
    expect(answers).toEqual([404, 404]);
    expect((await send(EMPTY)).status).toBe(200);
  });
});

describe("storing", () => {
  test("a replay is answered like the first time and counts once, also within one export and at the same time", async () => {
    const at = Date.now();
    const body = metricsExport({ "session.id": "replay" }, [
      tokens({}, { asInt: 7, at }),
      tokens({}, { asInt: 7, at }),
    ]);
    const answers = await Promise.all([send(body), send(body), send(body)]);
    expect(answers.map(({ body: told }) => told)).toEqual([ALL, ALL, ALL]);
    expect(await points("replay")).toHaveLength(1);
  });

  test("the same export under another key is another's", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "other",
      owner: "ann",
    });
    const body = metricsExport({ "session.id": "two-keys" }, [tokens({})]);
    await send(body);
    await send(body, { headers: { "x-gateway-key": secret } });
    expect((await points("two-keys")).map(({ owner }) => owner).sort()).toEqual(["ann", null].sort());
  });

  test("what is refused does not keep the rest out", async () => {
    const refused = sum("codex.api_request", [{ asInt: 1 }, { asInt: 2 }]);
    const { body } = await send(metricsExport({ "session.id": "partly" }, [refused, tokens({})]));
    expect(body.partialSuccess).toEqual({
      rejectedDataPoints: 2,
      errorMessage: "codex.api_request is not a metric that is stored (2 refused)",
    });
    expect(await points("partly")).toHaveLength(1);
  });

  test("names that are not stored are listed once a day, at most 1,000 for a key, and never a value", async () => {
    const { secret, id } = await gateway.admin<{ secret: string; id: string }>("POST", "/keys", {
      name: "flood",
    });
    const labels = (from: number) =>
      Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`a${from + i}`, "value-of-it"]));
    // As an exporter does: an export that a busy server could not store is sent again.
    const flood = (from: number) =>
      until(async () => {
        const { status } = await send(metricsExport({}, [tokens(labels(from))]), {
          headers: { "x-gateway-key": secret },
        });
        return status === 200;
      });
    await Promise.all([flood(0), flood(0), flood(700), flood(1400)]);
    await flood(0);
    const [row] = await gateway.sql`select count(*)::int as n from dropped_names where key_id = ${id}`;
    expect(row?.["n"]).toBe(1000);
    const page = await gateway.admin<{ data: object[]; has_more: boolean }>(
      "GET",
      "/metrics-dropped?key=flood&kind=attribute&limit=2",
    );
    expect(page).toMatchObject({ has_more: true, data: [{ key_name: "flood", kind: "attribute" }, {}] });
    expect(JSON.stringify(page)).not.toContain("value-of-it");
  });

  test("a canary in an attribute is in no table and no log line", async () => {
    const canary = { name: "canary", text: "canary-0f4e1c-tell-nobody" };
    await send(
      metricsExport({ secret: canary.text, "session.id": `${canary.text} with a blank` }, [
        tokens({
          "gen_ai.prompt": canary.text,
          "service.name": `${canary.text} that is far too long for a client`,
        }),
        sum("gen_ai.other", [{ asInt: canary.text }]),
      ]),
    );
    await send(`{"resourceMetrics":"${canary.text}"`);
    for (const [, text] of await dumpOf(gateway.sql)) expect(found([canary], text)).toEqual([]);
    expect(found([canary], gateway.log())).toEqual([]);
  });
});

describe("what agents export, in reports", () => {
  const figures = async (client: string) =>
    (
      await query({
        filters: { client: [client] },
        measures: [
          "operations",
          "input_tokens",
          "output_tokens",
          "total_tokens",
          "cached_tokens",
          "estimated_cost_usd",
          "users",
          "sessions",
          "active_hours",
          "latency_avg_ms",
        ],
      })
    ).total.current;

  test("Claude Code: cache reads and writes are input beside its own input, and its own cost is not added", async () => {
    const usage = (type: string, asDouble: number) => ({
      asDouble,
      labels: {
        type,
        model: "claude-fixture",
        "session.id": "cc-1",
        "user.id": "0123456789abcdef".repeat(4),
      },
    });
    const { body } = await send(
      metricsExport({ "service.name": "claude-code" }, [
        sum("claude_code.token.usage", [
          usage("input", 100),
          usage("cacheRead", 10_000),
          usage("cacheCreation", 2000),
          usage("output", 500),
        ]),
        sum("claude_code.cost.usage", [
          { asDouble: 99, labels: { model: "claude-fixture", "session.id": "cc-1" } },
        ]),
        sum("claude_code.session.count", [{ asDouble: 1, labels: { "session.id": "cc-1" } }]),
        sum("claude_code.active_time.total", [
          { asDouble: 12.5, labels: { type: "cli", "session.id": "cc-1" } },
        ]),
      ]),
    );
    expect(body).toEqual(ALL);
    // The writes may have been for an hour, which costs more: the export does not tell.
    const { total } = await query({
      filters: { client: ["claude-code"] },
      measures: ["estimated_cost_usd"],
    });
    expect(total.floor).toBe(true);
    const listed = await gateway.admin<{ data: object[] }>("GET", "/agent-sessions?client=claude-code");
    expect(listed.data).toMatchObject([{ session: "cc-1", estimate_is_lower_bound: true }]);
    // 100 × 3 + 10,000 × 0.3 + 2,000 × 3.75 + 500 × 15 = 18,300 per million.
    expect(await figures("claude-code")).toEqual({
      operations: 0,
      input_tokens: 12_100,
      output_tokens: 500,
      total_tokens: 12_600,
      cached_tokens: 10_000,
      estimated_cost_usd: 0.0183,
      users: 0,
      sessions: 1,
      active_hours: 1,
      latency_avg_ms: null,
    });
  });

  test("Codex: cached input, reasoning and total are parts of the others", async () => {
    const usage = (token_type: string, value: number) => ({
      count: "1",
      sum: value,
      labels: { token_type, model: "gpt-fixture" },
    });
    const { body } = await send(
      metricsExport({ "service.name": "codex_exec" }, [
        histogram("codex.turn.token_usage", [
          usage("total", 1300),
          usage("input", 1000),
          usage("cached_input", 600),
          usage("cache_write_input", 0),
          usage("output", 300),
          usage("reasoning_output", 200),
        ]),
      ]),
    );
    expect(body).toEqual(ALL);
    // 400 × 2 + 600 × 0.5 + 300 × 8 = 3,500 per million.
    expect(await figures("codex")).toMatchObject({
      input_tokens: 1000,
      output_tokens: 300,
      total_tokens: 1300,
      cached_tokens: 600,
      estimated_cost_usd: 0.0035,
      sessions: 0,
    });
  });

  test("Gemini CLI: thoughts, cached tokens and results of tools count from its own metric, the doubles are refused by name", async () => {
    const labels = {
      "gen_ai.request.model": "gemini-fixture",
      "gen_ai.provider.name": "gcp.gen_ai",
      "session.id": "gem-1",
    };
    const { body } = await send(
      metricsExport({ "service.name": "gemini-cli", "session.id": "gem-1" }, [
        histogram("gen_ai.client.token.usage", [
          { count: "2", sum: 5000, labels: { ...labels, "gen_ai.token.type": "input" } },
          { count: "2", sum: 250, labels: { ...labels, "gen_ai.token.type": "output" } },
        ]),
        { ...histogram("gen_ai.client.operation.duration", [{ count: "2", sum: 3.5, labels }]), unit: "s" },
        sum(
          "gemini_cli.token.usage",
          Object.entries({ input: 5000, output: 250, cache: 4000, thought: 100, tool: 40 }).map(
            ([type, tokens]) => ({ asInt: String(tokens), labels: { type, model: "gemini-fixture" } }),
          ),
        ),
      ]),
    );
    expect(body.partialSuccess).toEqual({
      rejectedDataPoints: 2,
      errorMessage:
        "gemini_cli.token.usage counts input tokens that gen_ai.client.token.usage has already (1 refused); " +
        "gemini_cli.token.usage counts output tokens that gen_ai.client.token.usage has already (1 refused)",
    });
    // 1,040 × 1 + 4,000 × 0.25 + 350 × 4 = 3,440 per million; 3.5 s over two operations.
    expect(await figures("gemini-cli")).toMatchObject({
      operations: 2,
      input_tokens: 5040,
      output_tokens: 350,
      cached_tokens: 4000,
      estimated_cost_usd: 0.00344,
      sessions: 1,
      latency_avg_ms: 1750,
    });
  });

  test("a model that nobody prices leaves the cost a lower bound, and alone unknown", async () => {
    const facts = (model: string, asInt: number) =>
      tokens({ "gen_ai.request.model": model, "enduser.id": "eve" }, { asInt });
    await send(
      metricsExport({ "service.name": "mixed" }, [
        facts("gpt-fixture", 1000),
        facts("nobody-prices-it", 1000),
      ]),
    );
    const { rows, total, coverage } = await query({
      dimensions: ["model"],
      measures: ["estimated_cost_usd", "users"],
      filters: { client: ["mixed"] },
    });
    expect(rows.map(({ groups, current, floor }) => [...groups, current?.estimated_cost_usd, floor])).toEqual(
      [
        ["gpt-fixture", 0.002, false],
        ["nobody-prices-it", null, true],
      ],
    );
    expect([total.current, total.floor]).toEqual([{ estimated_cost_usd: 0.002, users: 1 }, true]);
    expect(coverage).not.toBeUndefined();
  });

  test("stand in the payload's agentEstimate and never in the gateway's own figures", async () => {
    const answer = await fetch(`${gateway.url}/v1/reports`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const { agentEstimate, reports } = (await answer.json()) as {
      agentEstimate: Result;
      reports: { id: string; result: Result }[];
    };
    expect(agentEstimate.rows.map(({ groups: [client] }) => client)).toContain("codex");
    expect(reports.find(({ id }) => id === "spend-by-client")?.result.rows).toEqual([]);
    expect(reports.find(({ id }) => id === "agent-estimate")?.result.rows.length).toBeGreaterThan(2);
  });
});

/** Codes of an export's result, as the SDK has them. */
const [SUCCESS, FAILED] = [0, 1];

describe("OpenTelemetry's own exporters", () => {
  const address = () => ({
    url: `${gateway.url}/otel/v1/metrics`,
    headers: { "x-gateway-key": gateway.secret },
  });

  /** What an exporter says of an export, as its SDK hears it. */
  async function exported(
    exporter: PushMetricExporter,
    session: string,
    temporality: AggregationTemporality,
  ) {
    const memory = new InMemoryMetricExporter(temporality);
    const reader = new PeriodicExportingMetricReader({ exporter: memory, exportIntervalMillis: 3_600_000 });
    const provider = new MeterProvider({ readers: [reader] });
    provider.getMeter("m").createHistogram("gen_ai.client.token.usage", { unit: "{token}" }).record(42, {
      "gen_ai.token.type": "output",
      "gen_ai.request.model": "gpt-fixture",
      "service.name": "sdk",
      "session.id": session,
    });
    await provider.forceFlush();
    const [metrics] = memory.getMetrics();
    if (!metrics) throw new Error("no metrics");
    const result = await new Promise<{ code: number; error?: Error }>((resolve) =>
      exporter.export(metrics, resolve),
    );
    await provider.shutdown();
    await exporter.shutdown();
    return result;
  }

  test("the JSON one with delta temporality stores", async () => {
    const exporter = new OTLPMetricExporter({
      ...address(),
      temporalityPreference: AggregationTemporalityPreference.DELTA,
    });
    expect(await exported(exporter, "sdk-json", AggregationTemporality.DELTA)).toEqual({
      code: SUCCESS,
    });
    expect(await points("sdk-json")).toMatchObject([
      { tokens: "42", client: "sdk", kind: "output", cost_usd: "0.000336" },
    ]);
  });

  test("with cumulative temporality, its default, nothing is stored", async () => {
    await exported(new OTLPMetricExporter(address()), "sdk-cumulative", AggregationTemporality.CUMULATIVE);
    expect(await points("sdk-cumulative")).toEqual([] as never);
  });

  test("the protobuf one hears 415", async () => {
    const { code, error } = await exported(
      new ProtoExporter(address()),
      "sdk-proto",
      AggregationTemporality.DELTA,
    );
    expect([code, (error as { code?: number } | undefined)?.code]).toEqual([FAILED, 415]);
    expect(await points("sdk-proto")).toEqual([] as never);
  });
});
