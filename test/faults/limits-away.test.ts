import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type postgres from "postgres";
import { doneVendor, offerCent } from "#test/limits/cent-vendor.ts";
import { callOnce, limitedKey } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

// Gateways whose Postgres goes away and comes back, and a provider whose every call costs a cent.

let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await doneVendor();
});

const call = (gateway: LocalGateway, secret: string) =>
  callOnce(gateway.url, secret, { model: "cent", maxTokens: 50 });

/** The statuses of calls one after the other. */
async function statuses(gateway: LocalGateway, secret: string, calls: number): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < calls; n++) found.push((await call(gateway, secret)).status);
  return found;
}

const all = (status: number, calls: number): number[] => Array.from({ length: calls }, () => status);

/** Once each call that has ended is booked. */
const booked = (sql: postgres.Sql) =>
  until(async () => (await sql`select 1 from limit_holds where not ended`).length === 0);

type AwayView = { requests: number; usd: string; over: Record<string, number | string> };
const awayOf = async (gateway: LocalGateway, id: string): Promise<AwayView | undefined> =>
  (await gateway.admin<{ away?: AwayView }>("GET", `/keys/${id}`)).away;

describe("with Postgres stopped", () => {
  const place = scratch();
  let gate: PostgresGate;
  let sql: postgres.Sql;
  let gateways: LocalGateway[];
  const gatewayAt = (n: number): LocalGateway => {
    const gateway = gateways[n];
    if (!gateway) throw new Error("not started");
    return gateway;
  };

  beforeAll(async () => {
    const { url } = await testDatabase({ ofGateway: true });
    gate = await postgresGate(url);
    sql = testSql(url);
    const begin = (n: number) =>
      localGateway({ dataDir: join(place.path, `gateway-${n}`), databaseUrl: gate.url });
    gateways = [await begin(0), await begin(1)];
    await offerCent(gatewayAt(0), upstream.url);
  });

  const LIMITS = {
    "a concurrency limit": { concurrency: 8 },
    "a budget": { budget_usd: "5" },
    "a limit of requests per minute": { requests_per_minute: 600 },
    "a limit of tokens per minute": { tokens_per_minute: 100_000 },
    "no limit": {},
  } as const;

  test("keys with limits answer like a key without, and what they spent counts afterwards", async () => {
    const keys = await Promise.all(
      Object.entries(LIMITS).map(async ([name, limits]) => ({
        ...(await limitedKey(gatewayAt(0), limits)),
        name,
      })),
    );
    const strict = await limitedKey(gatewayAt(0), { requests_per_minute: 20 });
    const everyKey = [...keys, strict];
    for (const gateway of gateways)
      for (const { secret } of everyKey)
        await until(async () => (await call(gateway, secret)).status === 200);

    await booked(sql);
    await gate.shut();
    const answered = await Promise.all(
      keys.flatMap(({ name, secret }) =>
        // Four callers for each key, one call after the other.
        Array.from({ length: 4 }, async () => [name, await statuses(gatewayAt(0), secret, 20)] as const),
      ),
    );
    for (const [name, found] of answered) expect([name, found]).toEqual([name, all(200, 20)]);
    // Each gateway counts for itself; what is over the limit is refused by each.
    const refused = await Promise.all(gateways.map((gateway) => statuses(gateway, strict.secret, 25)));
    for (const found of refused) {
      expect(found.filter((status) => status !== 429)).toEqual(all(200, found.indexOf(429)));
      expect(found.indexOf(429)).toBeLessThanOrEqual(20);
    }

    await gate.open();
    const budgeted = keys.find(({ name }) => name === "a budget")?.id ?? "";
    await until(async () => {
      const [row] =
        await sql`select (select sum(usd) from key_spend where key_id = ${budgeted})::text || ' ' ||
        (select count(*) from requests where key_id = ${budgeted}) as spent`;
      return row?.["spent"] === "0.82 82";
    });
    await until(async () => (await sql`select 1 from limit_holds`).length === 0);
    await until(async () => {
      const view = await awayOf(gatewayAt(0), budgeted);
      return view?.requests === 80 && view.usd === "0.8" && view.over["budget_usd"] === "0";
    });
    // The two gateways together let more through than the key may have.
    await until(async () => Number((await awayOf(gatewayAt(0), strict.id))?.over["requests_per_minute"]) > 0);
    await until(() => gateways.some((gateway) => gateway.log().includes("went over its limits")));
    const metrics = await Promise.all(
      gateways.map(async (gateway) =>
        (await fetchMetrics(gateway)).includes('limit="requests_per_minute"} 1'),
      ),
    );
    expect(metrics).toContain(true);
  });
});

describe("with Postgres frozen", () => {
  /** The most that the setting allows: a Postgres that is only slow is not away. */
  const AWAY_MS = 5000;
  const place = scratch();
  let gate: PostgresGate;
  let sql: postgres.Sql;
  let gateway: LocalGateway;

  beforeAll(async () => {
    const { url } = await testDatabase({ ofGateway: true });
    gate = await postgresGate(url);
    sql = testSql(url);
    const env = { LIMITS_AWAY_AFTER_MS: String(AWAY_MS) };
    gateway = await localGateway({ dataDir: join(place.path, "gateway"), databaseUrl: gate.url, env });
    await offerCent(gateway, upstream.url);
  });

  test("calls of keys with limits wait a moment once, and are answered by the figures here", async () => {
    const limits = {
      concurrency: { concurrency: 4 },
      budget: { budget_usd: "5" },
      rate: { requests_per_minute: 600 },
      tokens: { tokens_per_minute: 100_000 },
      // A fiftieth of what is left is a dime.
      share: { budget_usd: "5.02", when_away: "refuse" },
      none: {},
    } as const;
    const made = Object.entries(limits).map(
      async ([name, limit]) => [name, await limitedKey(gateway, limit)] as const,
    );
    const keys = await Promise.all(made);
    // After a refusal, the first call of each may still wait for what the one before it has booked.
    for (const [, { secret }] of keys) expect(await statuses(gateway, secret, 2)).toEqual([200, 200]);
    await booked(sql);
    gate.freeze();
    try {
      const found = new Map<string, { status: number; ms: number }[]>(keys.map(([name]) => [name, []]));
      const callers = keys.flatMap(([name, { secret }]) =>
        Array.from({ length: 4 }, async () => {
          for (let n = 0; n < 10; n++) {
            const startedMs = performance.now();
            const { status } = await call(gateway, secret);
            found.get(name)?.push({ status, ms: performance.now() - startedMs });
          }
        }),
      );
      await Promise.all(callers);
      const statusesOf = (name: string) => found.get(name)?.map(({ status }) => status) ?? [];
      for (const name of ["concurrency", "budget", "rate", "tokens", "none"])
        expect([name, statusesOf(name)]).toEqual([name, all(200, 40)]);
      // The answer to the last booking may have been cut off: that call is one of the ten, then.
      const lived = statusesOf("share").filter((status) => status === 200).length;
      expect([9, 10]).toContain(lived);
      expect(statusesOf("share").toSorted()).toEqual([...all(200, lived), ...all(503, 40 - lived)]);
      // At most the first call of each caller waits; others of the busy machine, as those of the key without limits.
      const waited = (name: string) => (found.get(name) ?? []).filter(({ ms }) => ms > AWAY_MS / 2).length;
      for (const [name] of keys) expect([name, waited(name) <= 4 + waited("none")]).toEqual([name, true]);
    } finally {
      gate.thaw();
    }
    await until(async () => {
      const [, budgeted] = keys.find(([name]) => name === "budget") ?? [];
      const view = await awayOf(gateway, budgeted?.id ?? "");
      // The two before count too, if this machine was so busy that Postgres was away for them already.
      if (view === undefined || view.requests < 40 || view.requests > 42) return false;
      return Math.round(Number(view.usd) * 100) === view.requests && view.over["budget_usd"] === "0";
    });
  });
});

async function fetchMetrics({ url }: LocalGateway): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  return answer.text();
}

describe("a key that refuses", () => {
  const place = scratch();

  test("lives on its share while Postgres is away, then its calls are 503 and say when to come again", async () => {
    const database = await testDatabase();
    const gate = await postgresGate(database.url);
    const gateway = await localGateway({ dataDir: place.path, databaseUrl: gate.url });
    const sql = testSql(database.url);
    await offerCent(gateway, upstream.url);
    const { secret, id } = await limitedKey(gateway, { budget_usd: "2", when_away: "refuse" });
    expect(await statuses(gateway, secret, 2)).toEqual([200, 200]);
    // Budgets with names do as they say; the key itself has no limit.
    const named = await Promise.all(
      ["refuse", "local"].map(async (word) => {
        const own = await limitedKey(gateway, {});
        const facts = { amount_usd: "2", when_away: word };
        await gateway.admin("PUT", `/budgets/${word}`, { on: { kind: "key", id: own.id }, ...facts });
        await until(async () => (await call(gateway, own.secret)).status === 200);
        await call(gateway, own.secret);
        return own;
      }),
    );
    await booked(sql);
    await gate.shut();
    const away = await Promise.all(named.map((own) => statuses(gateway, own.secret, 6)));
    expect(away.map((found) => found.filter((status) => status === 200).length)).toEqual([3, 6]);
    expect(away[0]?.slice(3)).toEqual(all(503, 3));
    // A fiftieth of what is left is 3 cents.
    expect(await statuses(gateway, secret, 6)).toEqual([200, 200, 200, 503, 503, 503]);
    const refused = await call(gateway, secret);
    expect(refused.headers.get("retry-after")).toBe("5");
    await gate.open();
    await until(async () => (await call(gateway, secret)).status === 200);
    // What was spent on the lease counts like everything else.
    await until(async () => {
      const [row] = await sql`select
        (select sum(usd) from key_spend where key_id = ${id}) as spent,
        (select sum(cost_usd) from requests where key_id = ${id}) as recorded,
        (select count(*)::int from limit_holds where key_id = ${id}) as holds`;
      return row?.["spent"] === "0.06" && row["recorded"] === "0.06" && row["holds"] === 0;
    });

    // A Postgres that says nothing: only the gateway's own limit lets this call end.
    const other = await limitedKey(gateway, { concurrency: 10 });
    await until(async () => (await call(gateway, other.secret)).status === 200);
    gate.freeze();
    expect(await statuses(gateway, other.secret, 5)).toEqual(all(200, 5));
    gate.thaw();
  });
});
