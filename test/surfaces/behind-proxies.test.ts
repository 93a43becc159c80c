import { beforeAll, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

let gateway: LocalGateway;
beforeAll(async () => {
  gateway = await localGateway({
    dataDir: `${scratch().path}/gateway`,
    env: { REFUSALS_PER_MINUTE: "3", TRUSTED_PROXIES: "loopback" },
  });
});

const ask = (client: string, path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { "x-forwarded-for": client, ...init.headers } });

test("one stranger's wrong keys and codes slow nobody else behind the same proxy", async () => {
  const wrong = { headers: { authorization: `Bearer tga_${"x".repeat(43)}` } };
  const statuses: number[] = [];
  for (let guess = 0; guess < 4; guess++) {
    // What the client writes itself is left of what the proxy adds.
    statuses.push((await ask(`10.0.0.${guess}, 198.51.100.7`, "/admin/v1/settings", wrong)).status);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect((await ask("203.0.113.9", "/admin/v1/settings", wrong)).status).toBe(401);
});

test("one stranger's codes leave others theirs", async () => {
  const begin = (client: string) =>
    ask(client, "/oauth/device_authorization", { method: "POST", body: new URLSearchParams() });
  const statuses = new Set<number>();
  for (let code = 0; code < 101; code++) statuses.add((await begin("198.51.100.8")).status);
  expect([...statuses]).toEqual([200, 429]);
  expect((await begin("203.0.113.9")).status).toBe(200);
});

test("the audit log and the log have the client's address", async () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
  const answer = await ask("203.0.113.77", "/admin/v1/settings", {
    method: "PATCH",
    headers,
    body: '{"hooks":true}',
  });
  expect(answer.status).toBe(200);
  const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=settings.changed&limit=1");
  expect(data).toMatchObject([{ address: "203.0.113.77" }]);
  expect(gateway.log()).toContain('"address":"198.51.100.7"');
});
