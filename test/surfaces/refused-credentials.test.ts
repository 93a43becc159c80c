import { beforeAll, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until } from "#test/support/until.ts";

let gateway: LocalGateway;
let secret: string;
beforeAll(async () => {
  gateway = await localGateway({
    dataDir: `${scratch().path}/gateway`,
    env: { REFUSALS_PER_MINUTE: "10", METRICS_PUBLIC: "true" },
  });
  secret = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "suite" })).secret;
});

const WRONG = `tg_${"x".repeat(43)}`;

/** Every door that takes a key, and what its error is called. */
const DOORS = [
  ["POST", "/v1/chat/completions", "authorization"],
  ["POST", "/v1/messages", "x-api-key"],
  ["GET", "/v1/models", "authorization"],
  ["POST", "/mcp", "authorization"],
  ["POST", "/otel/v1/metrics", "x-gateway-key"],
  ["POST", "/hooks/v1/events", "authorization"],
  ["POST", "/v1/reports/query", "authorization"],
  ["GET", "/admin/v1/settings", "authorization"],
] as const;

const knock = async ([method, path, header]: (typeof DOORS)[number], key: string) => {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: {
      [header]: header === "authorization" ? `Bearer ${key}` : key,
      "content-type": "application/json",
    },
    ...(method === "POST" && { body: "{}" }),
  });
  await answer.text();
  return answer;
};

const refusedSoFar = async () => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const counts = text.matchAll(/^tallygate_refused_credentials_total\{kind="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...counts].map(([, kind, count]) => [kind, Number(count)]));
};

test("wrong keys at every door are counted, and slowed from the tenth in a minute on; right keys never are", async () => {
  const statuses: number[] = [];
  for (const door of DOORS) statuses.push((await knock(door, WRONG)).status);
  expect(statuses).toEqual(DOORS.map(() => 401));
  expect(await refusedSoFar()).toMatchObject({ client_key: 7, admin_key: 1, session: 0 });

  expect((await knock(DOORS[0], WRONG)).status).toBe(401);
  for (const door of DOORS) {
    const answer = await knock(door, WRONG);
    expect([door[1], answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([
      door[1],
      429,
      true,
    ]);
  }
  const logged = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes('"credentials refused"'));
  await until(() => logged().length > 0);
  expect(logged().map((line) => JSON.parse(line))[0]).toMatchObject({
    address: expect.stringContaining("127.0.0.1"),
    refusals: 1,
  });
  expect(gateway.log()).not.toContain(WRONG);

  expect((await knock(["GET", "/v1/models", "authorization"], secret)).status).toBe(200);
  expect((await knock(["GET", "/admin/v1/settings", "authorization"], ADMIN_KEY)).status).toBe(200);
});

test("a request without a key is refused and not counted", async () => {
  const before = await refusedSoFar();
  expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(401);
  expect((await fetch(`${gateway.url}/admin/v1/settings`)).status).toBe(401);
  expect(await refusedSoFar()).toEqual(before);
});

test("a key for reports alone writes neither metrics nor hook events; a key for tools reports tool calls", async () => {
  const keyWith = async (scopes: object) =>
    (await gateway.admin<{ secret: string }>("POST", "/keys", { name: crypto.randomUUID(), scopes })).secret;
  const send = async (path: string, key: string, body: object) => {
    const answer = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "x-gateway-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  };
  const metrics = ["/otel/v1/metrics", { resourceMetrics: [] }] as const;
  const events = ["/hooks/v1/events", { events: [] }] as const;
  for (const scopes of [
    { routes: [], models: [], mcp: [], reports: true },
    { routes: [], reports: true },
    { models: [], reports: true },
  ]) {
    const key = await keyWith(scopes);
    expect([scopes, await send(metrics[0], key, metrics[1])]).toEqual([scopes, 403]);
    expect([scopes, await send(events[0], key, events[1])]).toEqual([scopes, 403]);
    const reports = await fetch(`${gateway.url}/v1/reports`, { headers: { "x-gateway-key": key } });
    expect(reports.status).toBe(200);
  }
  const tools = await keyWith({ routes: [], mcp: ["shop__search"] });
  expect(await send(metrics[0], tools, metrics[1])).toBe(403);
  expect(await send(events[0], tools, events[1])).not.toBe(403);
  expect(await send(metrics[0], secret, metrics[1])).toBe(200);
});
