import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { fastestMs } from "#test/support/fastest.ts";
import { metricsExport, sum } from "#test/support/otlp.ts";
import { until } from "#test/support/recorder-kit.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const NOWHERE = "http://127.0.0.1:9";
const MEBIBYTE = 1024 ** 2;
let gateway: WiredGateway;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
}, 30_000);
afterAll(() => gateway.close());

async function residentBytes(): Promise<number> {
  const status = await Bun.file(`/proc/${gateway.pid()}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Runs `work`, and tells by how much the gateway was larger at most meanwhile. */
async function growth(work: () => Promise<void>): Promise<number> {
  const before = await residentBytes();
  let most = before;
  const watch = setInterval(() => void residentBytes().then((now) => (most = Math.max(most, now))), 5);
  await work();
  clearInterval(watch);
  return most - before;
}

const send = async (path: string, body: Uint8Array, headers: Record<string, string> = {}) => {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": gateway.secret, ...headers },
    body: new Uint8Array(body),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const GZIP = { "content-encoding": "gzip" };
const POINTS = '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"dataPoints":[';
const points = Buffer.from(`${POINTS}${"{},".repeat(999_999)}{}]}}]}]}]}`);
const METRICS = "/otel/v1/metrics";
const HOOKS = "/hooks/v1/events";

describe.skipIf(process.platform !== "linux")("a bomb is refused within 100 ms, in bounded memory", () => {
  test.each([
    ["metrics: 512 MiB in gzip", METRICS, gzipSync(Buffer.alloc(512 * MEBIBYTE)), GZIP, 413],
    ["metrics: a million points", METRICS, points, {}, 413],
    ["metrics: a million points in gzip", METRICS, gzipSync(points), GZIP, 413],
    ["metrics: 8 MiB of brackets", METRICS, Buffer.alloc(8 * MEBIBYTE, "["), {}, 400],
    ["metrics: 8 MiB of brackets in gzip", METRICS, gzipSync(Buffer.alloc(8 * MEBIBYTE, "[")), GZIP, 400],
    ["hooks: 512 MiB in gzip", HOOKS, gzipSync(Buffer.alloc(512 * MEBIBYTE)), GZIP, 415],
    ["hooks: a million events", HOOKS, Buffer.from(`{"events":[${"{},".repeat(1_000_000)}{}]}`), {}, 413],
    ["hooks: 300,000 events", HOOKS, Buffer.from(`{"events":[${"{},".repeat(300_000)}{}]}`), {}, 413],
    ["hooks: 4 MiB of brackets", HOOKS, Buffer.alloc(4 * MEBIBYTE, "["), {}, 400],
  ])("%s", async (_, path, body, headers, status) => {
    let tookMs = Number.POSITIVE_INFINITY;
    const grown = await growth(async () => {
      const sent = async () => expect(await send(path, body, headers as Record<string, string>)).toBe(status);
      tookMs = await fastestMs(sent, 5);
    });
    expect(tookMs).toBeLessThan(100);
    expect(grown).toBeLessThan(160 * MEBIBYTE);
  });
});

test("100,000 names of attributes: their points are stored, and at most 1,000 names", async () => {
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: "flood" });
  const at = Date.now();
  for (let part = 0; part < 20; part++) {
    const points = Array.from({ length: 50 }, (_, i) => ({
      asInt: 1,
      at: at + part * 50 + i,
      labels: {
        "gen_ai.token.type": "input",
        ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`name-${part}-${i}-${n}`, "x"])),
      },
    }));
    const body = Buffer.from(JSON.stringify(metricsExport({}, [sum("gen_ai.client.token.usage", points)])));
    expect(await send(METRICS, body, { "x-gateway-key": key.secret })).toBe(200);
  }
  let stored: Record<string, unknown> | undefined;
  await until(async () => {
    [stored] = await gateway.sql`
      select (select count(*)::int from agent_points where key_id = ${key.id}) as points,
        (select count(*)::int from dropped_names where key_id = ${key.id}) as names`;
    return stored?.["points"] === 1000;
  });
  expect(stored).toEqual({ points: 1000, names: 1000 });
}, 60_000);

test("100,000 names in one export: its points are stored, and at most 1,000 names", async () => {
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: "flood at once" });
  const at = Date.now();
  const points = Array.from({ length: 100 }, (_, i) => ({
    asInt: 1,
    at: at + i,
    labels: {
      "gen_ai.token.type": "input",
      ...Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`once-${i}-${n}`, "x"])),
    },
  }));
  const body = Buffer.from(JSON.stringify(metricsExport({}, [sum("gen_ai.client.token.usage", points)])));
  expect(await send(METRICS, body, { "x-gateway-key": key.secret })).toBe(200);
  const [stored] = await gateway.sql`
    select (select count(*)::int from agent_points where key_id = ${key.id}) as points,
      (select count(*)::int from dropped_names where key_id = ${key.id}) as names`;
  expect(stored).toEqual({ points: 100, names: 1000 } as never);
}, 60_000);
