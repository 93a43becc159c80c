import { beforeAll, expect, test } from "bun:test";
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter,
} from "@opentelemetry/exporter-metrics-otlp-http";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type postgres from "postgres";
import { scratch } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { metricsExport, sum } from "#test/support/otlp.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { until } from "#test/support/until.ts";

const place = scratch();
let database: TestDatabase;
let gate: PostgresGate;
/** One that is killed, and then one in its place, on its files. */
let gateway: LocalGateway;
let mortal: GatewayProcess;
const dataDir = `${place.path}/gateway`;
let sql: postgres.Sql;
let secret: string;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  sql = testSql(database.url);
  mortal = await startGateway({ dataDir, databaseUrl: gate.url });
  gateway = mortal;
  ({ secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "agents" }));
});
const exportOf = (session: string) =>
  metricsExport({ "session.id": session }, [
    sum("gen_ai.client.token.usage", [{ asInt: 1, labels: { "gen_ai.token.type": "input" } }]),
  ]);

const send = (body: object, key = secret) =>
  fetch(`${gateway.url}/otel/v1/metrics`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": key },
    body: JSON.stringify(body),
  });

const stored = async (session: string) =>
  (await sql`select 1 from agent_points where session = ${session}`).length;

test("Postgres away: 503 with retry-after, 502 for a key that is not known; afterwards the retry is stored once", async () => {
  const body = exportOf("away");
  await gate.shut();
  const away = await send(body);
  expect([away.status, await away.json()]).toMatchObject([503, { code: 14 }]);
  expect(away.headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await send(body, `tg_${"k".repeat(43)}`)).status).toBe(502);
  await gate.open();
  await until(async () => (await send(body)).status === 200);
  expect((await send(body)).status).toBe(200);
  expect(await stored("away")).toBe(1);
});

/** One export by OpenTelemetry's own exporter with its own timeout, 10 s with all retries; resolves with its verdict. */
async function exportBySdk(session: string): Promise<{ code: number }> {
  const memory = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter: memory, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const labels = { "gen_ai.token.type": "output", "session.id": session };
  provider.getMeter("m").createHistogram("gen_ai.client.token.usage").record(42, labels);
  await provider.forceFlush();
  const [metrics] = memory.getMetrics();
  if (!metrics) throw new Error("no metrics");
  const exporter = new OTLPMetricExporter({
    url: `${gateway.url}/otel/v1/metrics`,
    headers: { "x-gateway-key": secret },
    temporalityPreference: AggregationTemporalityPreference.DELTA,
  });
  const exported = await new Promise<{ code: number }>((resolve) => exporter.export(metrics, resolve));
  await provider.shutdown();
  await exporter.shutdown();
  return exported;
}

test("OpenTelemetry's own exporter sends again by itself when Postgres is back, and is stored once", async () => {
  await gate.shut();
  const exported = exportBySdk("sdk-away");
  await Bun.sleep(1000);
  await gate.open();
  expect(await exported).toEqual({ code: 0 });
  expect(await stored("sdk-away")).toBe(1);
});

test("Postgres silent: the exporter hears of it in time to send again, and is stored once", async () => {
  expect((await send(exportOf("sdk-before"))).status).toBe(200);
  gate.strand();
  expect(await exportBySdk("sdk-silent")).toEqual({ code: 0 });
  expect(await stored("sdk-silent")).toBe(1);
});

test("Postgres silent: 503, and the next export is stored", async () => {
  expect((await send(exportOf("before"))).status).toBe(200);
  gate.strand();
  const silent = await send(exportOf("silent"));
  expect(silent.status).toBe(503);
  expect((await send(exportOf("silent"))).status).toBe(200);
  expect(await stored("silent")).toBe(1);
});

test("kill -9 among exports: what was answered 200 is stored, and sent again all are stored once", async () => {
  const bodies = Array.from({ length: 60 }, (_, i) => [`kill-${i}`, exportOf(`kill-${i}`)] as const);
  const sending = bodies.map(async ([session, body]) => {
    const answer = await send(body).catch(() => null);
    return answer?.status === 200 ? session : null;
  });
  await Promise.race(sending);
  await mortal.kill();
  const answered = (await Promise.all(sending)).filter((session) => session !== null);
  for (const session of answered) expect(await stored(session)).toBe(1);
  gateway = await localGateway({ dataDir, databaseUrl: gate.url });
  for (const [session, body] of bodies) {
    expect((await send(body)).status).toBe(200);
    expect(await stored(session)).toBe(1);
  }
});
