import { beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { metricsExport, sum } from "#test/support/otlp.ts";
import { until } from "#test/support/until.ts";
import { type WiredProcess, wiredProcess } from "#test/support/wired-gateway.ts";

const NOWHERE = "http://127.0.0.1:9";
const MEBIBYTE = 1024 ** 2;
let gateway: WiredProcess;

beforeAll(async () => {
  gateway = await wiredProcess({ chat: NOWHERE, messages: NOWHERE });
});
async function residentBytes(): Promise<number> {
  const status = await Bun.file(`/proc/${gateway.pid()}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Processor time of the gateway so far, which Linux counts in hundredths of a second. */
async function cpuMs(): Promise<number> {
  const stat = await Bun.file(`/proc/${gateway.pid()}/stat`).text();
  // The words after the name in parentheses begin with the third.
  const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(words[11]) + Number(words[12]));
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

describe.skipIf(process.platform !== "linux")("a bomb is refused with little work, in bounded memory", () => {
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
    const times = 5;
    const before = await cpuMs();
    const grown = await growth(async () => {
      for (let n = 0; n < times; n++) {
        expect(await send(path, body, headers as Record<string, string>)).toBe(status);
      }
    });
    // Some 50 ms each; read whole, they are seconds.
    expect((await cpuMs()) - before).toBeLessThan(500 * times);
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
});

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
});
