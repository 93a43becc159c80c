import { expect, test } from "bun:test";
import { join } from "node:path";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { callOnce } from "#test/limits/world.ts";
import { atEnd } from "#test/support/at-end.ts";
import { TALLYGATE } from "#test/support/checkout.ts";
import { HAS_CLICKHOUSE, startClickHouse, type TestClickHouse } from "#test/support/clickhouse.ts";
import { scratch } from "#test/support/embedded.ts";
import { isFaultRun } from "#test/support/fault-run.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { startWorkers } from "#test/support/workers-process.ts";

/** Stands before ClickHouse. While it withholds answers, insertions of records are stored and their answers never come. */
function withholdingProxy(target: string) {
  const { origin } = new URL(target);
  let release: (() => void) | null = null;
  let stored = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      const withheld = release !== null && /^INSERT INTO requests/.test(searchParams.get("query") ?? "");
      const answer = await fetch(`${origin}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body: await request.arrayBuffer(),
        decompress: false,
      }).catch(() => new Response("gone", { status: 502 }));
      if (!withheld || !answer.ok) return answer;
      stored += 1;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return new Response("gone", { status: 502 });
    },
  });
  atEnd(() => server.stop(true));
  const url = new URL(target);
  url.port = String(server.port);
  return {
    url: url.href,
    withhold: () => {
      release = () => {};
    },
    /** Once ClickHouse has stored rows whose answer is withheld. */
    untilStored: async () => {
      await until(() => stored > 0);
      stored = 0;
    },
    answer: () => {
      release?.();
      release = null;
    },
  };
}

async function world(start: (env: Record<string, string>) => Promise<GatewayProcess>, running = true) {
  const server = await startClickHouse();
  const address = await server.database();
  const proxy = withholdingProxy(address);
  if (!running) await server.kill();
  const gateway = await start({ CLICKHOUSE_URL: proxy.url });
  const sql = testSql(gateway.databaseUrl);
  const client = openClickHouse(address, { name: "test", timeoutMs: 30_000, connectionsMax: 1 });
  atEnd(() => client.close());
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada" });
  const call = async (times: number) => {
    for (let n = 0; n < times; n++) await callOnce(gateway.url, secret, { model: "echo" });
  };
  const untilStored = (rows: number) =>
    until(async () => (await sql`select count(*)::int as n from requests`)[0]?.["n"] === rows);
  const untilCopied = () =>
    until(
      async () =>
        (await sql`select 1 from clickhouse_state where version > 0`).length > 0 &&
        (await sql`select 1 from clickhouse_marks limit 1`).length === 0,
    );
  const counted = async (from: string) => {
    const query = `select count() as n, uniqExact(id) as ids from ${from}`;
    const answer = await client.query({ query, format: "JSONEachRow" });
    const [row] = await answer.json<{ n: string; ids: string }>();
    return [Number(row?.n), Number(row?.ids)];
  };
  return { server, proxy, gateway, sql, call, untilStored, untilCopied, counted };
}

const readiness = async (gateway: GatewayProcess) => {
  const answer = await fetch(`${gateway.url}/readyz`);
  return { status: answer.status, body: await answer.json() };
};

/** What a report on all calls answers. */
async function reported(
  gateway: GatewayProcess,
  range = "7d",
): Promise<{ status: number; requests: number | undefined }> {
  const spec = { source: "requests", dimensions: [], measures: ["requests"], filters: {}, range };
  const answer = await fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ spec: { ...spec, compare: "none", view: "table" } }),
  });
  return { status: answer.status, requests: (await answer.json()).total?.current.requests };
}

const metricsOf = async (gateway: GatewayProcess) =>
  await (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).text();

/** ClickHouse stores rows, and is killed before it can say so. */
async function killBeforeAnswer({
  server,
  proxy,
}: { server: TestClickHouse } & Pick<Awaited<ReturnType<typeof world>>, "proxy">) {
  await proxy.untilStored();
  await server.kill();
  proxy.answer();
  await server.start();
}

test.skipIf(!HAS_CLICKHOUSE)(
  "calls go on while ClickHouse is away, and each is there once whoever is killed before the answer",
  async () => {
    const dataDir = join(scratch().path, "gateway");
    const it = await world((env) => startGateway({ dataDir, env }), false);
    const { gateway, server, proxy } = it;
    expect(await readiness(gateway)).toMatchObject({
      status: 200,
      body: {
        clickhouse: "away",
        can: { model_calls: true, reports: true },
        reasons: [
          "ClickHouse is away: records wait in Postgres, which answers reports until ClickHouse has every record.",
        ],
      },
    });
    await it.call(3);
    await it.untilStored(3);
    // Nothing was copied yet, so that Postgres answers.
    expect(await reported(gateway)).toEqual({ status: 200, requests: 3 });
    await until(() => gateway.log().includes("records wait in Postgres for ClickHouse"));
    await until(async () => /^tallygate_clickhouse_waiting_rows [3-9]$/m.test(await metricsOf(gateway)));
    await server.start();
    await it.untilCopied();
    expect(await it.counted("requests final")).toEqual([3, 3]);
    expect((await readiness(gateway)).body).toMatchObject({ clickhouse: "reachable", reasons: [] });
    expect(await reported(gateway)).toEqual({ status: 200, requests: 3 });
    await until(
      async () => (await it.sql`select 1 from clickhouse_state where compared_at is not null`).length > 0,
    );
    await server.kill();
    expect((await readiness(gateway)).body).toMatchObject({
      can: { model_calls: true, reports: false },
      reasons: ["ClickHouse is away: reports that read it are not available, and records wait in Postgres."],
    });
    // What was asked before is known.
    expect(await reported(gateway)).toEqual({ status: 200, requests: 3 });
    expect(await reported(gateway, "30d")).toEqual({ status: 503, requests: undefined });
    await server.start();

    proxy.withhold();
    await it.call(2);
    await proxy.untilStored();
    await gateway.kill();
    proxy.answer();
    await gateway.start();
    await it.untilCopied();
    expect(await it.counted("requests final")).toEqual([5, 5]);

    proxy.withhold();
    await it.call(1);
    await killBeforeAnswer(it);
    await it.untilCopied();
    expect(await it.counted("requests final")).toEqual([6, 6]);
    expect(await reported(gateway)).toEqual({ status: 200, requests: 6 });
    // Once for each time it was away.
    expect(gateway.log().split("records wait in Postgres for ClickHouse").length - 1).toBeLessThanOrEqual(3);

    // Once more by hand, beside the gateway: nothing is doubled.
    const env = {
      PATH: process.env["PATH"] ?? "",
      DATABASE_URL: gateway.databaseUrl,
      CLICKHOUSE_URL: proxy.url,
    };
    const moving = Bun.spawn([...TALLYGATE, "move-records"], { env, stdout: "pipe", stderr: "pipe" });
    const [said, notes] = await Promise.all([
      new Response(moving.stdout).text(),
      new Response(moving.stderr).text(),
    ]);
    expect(said).toBe("done: 6 rows; ClickHouse and Postgres agree\n");
    expect(notes).toMatch(/^tallygate: requests of \d{4}-\d\d-\d\d: 6 rows$/m);
    expect(await it.counted("requests final")).toEqual([6, 6]);
  },
);

test.skipIf(!HAS_CLICKHOUSE || !isFaultRun)(
  "while workers and ClickHouse are killed again and again, each record is in ClickHouse once",
  async () => {
    const dataDir = join(scratch().path, "gateway");
    const it = await world((env) => startWorkers(2, { dataDir, env }));
    for (let round = 1; round <= 6; round++) {
      it.proxy.withhold();
      await it.call(20);
      await it.proxy.untilStored();
      // The oldest worker, so that the rounds change hands.
      await it.gateway.kill();
      if (round % 2 === 0) await it.server.kill();
      it.proxy.answer();
      await it.gateway.start();
      if (round % 2 === 0) await it.server.start();
      await it.untilStored(20 * round);
      await it.untilCopied();
      expect(await it.counted("requests final")).toEqual([20 * round, 20 * round]);
    }
  },
);
