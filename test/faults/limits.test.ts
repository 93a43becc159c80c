import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { newId } from "#shared/ids.ts";
import { doneVendor, offerCent } from "#test/limits/cent-vendor.ts";
import { callOnce, limitedKey, type Outcome } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { casesOf, isFaultRun } from "#test/support/fault-run.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { startWorkers } from "#test/support/workers-process.ts";

// Three gateways on one Postgres, and a provider whose every call costs a cent.

/** Gateways that clients call in turn, the one of them, a process, that is killed, and what takes its place. */
type Started = { gateways: LocalGateway[]; mortal: GatewayProcess; replace(): Promise<unknown> };

const GATEWAYS = [
  [
    "three gateways",
    async (path: string, databaseUrl: string): Promise<Started> => {
      const at = (n: number) => ({ dataDir: `${path}/${n}`, databaseUrl });
      const others = isFaultRun ? startGateway : localGateway;
      const first = await others(at(0));
      const [mortal, last] = await Promise.all([startGateway(at(1)), others(at(2))]);
      const replace = () => (isFaultRun ? mortal.start() : localGateway(at(1)));
      return { gateways: [first, mortal, last], mortal, replace };
    },
  ],
  [
    "three workers",
    async (path: string, databaseUrl: string): Promise<Started> => {
      const mortal = await startWorkers(3, { dataDir: path, databaseUrl });
      return { gateways: [mortal], mortal, replace: mortal.start };
    },
  ],
] as const;

describe.each(casesOf(GATEWAYS))("%s", (_, startAll) => {
  const place = scratch();
  let database: TestDatabase;
  let upstream: ScriptedUpstream;
  let gateways: LocalGateway[] = [];
  let mortal: GatewayProcess;
  let replace: Started["replace"];
  let sql: postgres.Sql;
  /** Called when the provider is asked; its answer waits for the result. */
  let hold = (): Promise<void> => Promise.resolve();

  const gatewayOf = (n: number): LocalGateway => {
    const gateway = gateways[n % gateways.length];
    if (!gateway) throw new Error("no gateway was started");
    return gateway;
  };

  beforeAll(async () => {
    database = await testDatabase();
    upstream = await doneVendor(() => hold());
    ({ gateways, mortal, replace } = await startAll(place.path, database.url));
    sql = testSql(database.url);
    await offerCent(gatewayOf(0), upstream.url);
    // On every replica within five seconds.
    const { secret } = await limitedKey(gatewayOf(0), {});
    for (const { url } of gateways) {
      await until(async () => (await callOnce(url, secret, { model: "cent" })).status === 200);
    }
  });

  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  /**
   * A call by one of the gateways; null where its gateway died under it. Its connection is new: those that are kept may all
   * lead to a few of the workers.
   */
  const call = (n: number, secret: string): Promise<Outcome | null> =>
    callOnce(gatewayOf(n).url, secret, { model: "cent", session: newId(), keepalive: false }).catch(
      () => null,
    );

  const count = (outcomes: (Outcome | null)[], status: number): number =>
    outcomes.filter((outcome) => outcome?.status === status).length;

  const parallel = (calls: number, secret: string) =>
    Promise.all(Array.from({ length: calls }, (_, n) => call(n, secret)));

  /** Calls one by one until the budget refuses for good: what other calls hold comes back. Returns how many were answered. */
  async function untilUsedUp(secret: string): Promise<number> {
    const outcomes: (Outcome | null)[] = [];
    await until(async () => {
      outcomes.push(await call(outcomes.length, secret));
      return outcomes.at(-1)?.status === 402;
    });
    return count(outcomes, 200);
  }

  async function spentBy(keyId: string): Promise<number> {
    const [row] =
      await sql`select coalesce(sum(cost_usd), 0)::text as usd from requests where key_id = ${keyId}`;
    return Number(row?.["usd"]);
  }

  const reserved = async (keyId: string): Promise<number> => {
    const [row] = await sql`select count(*)::int as n from limit_holds where key_id = ${keyId} and not ended`;
    return row?.["n"];
  };

  test("let through as many calls in a minute as one would", async () => {
    const { secret } = await limitedKey(gatewayOf(0), { requests_per_minute: 100 });
    const outcomes = await parallel(300, secret);
    expect(count(outcomes, 200)).toBe(100);
    expect(count(outcomes, 429)).toBe(200);
  });

  test("spend no more of a team's budget than there is, nor the teams above it", async () => {
    const admin = gatewayOf(0).admin;
    const [all, web] = [newId(), newId()];
    await admin("PUT", `/teams/${all}`, { budget_usd: "0.20" });
    await admin("PUT", `/teams/${web}`, { parent: all, budget_usd: "0.12", budget_period: "day" });
    const keyOf = (team: string) =>
      admin<{ id: string; secret: string }>("POST", "/keys", { name: newId(), team });
    const [one, other, above] = [await keyOf(web), await keyOf(web), await keyOf(all)];

    const ofWeb = await Promise.all([parallel(20, one.secret), parallel(20, other.secret)]);
    const atOnce = count(ofWeb.flat(), 200);
    expect(ofWeb.flat().filter((it) => ![200, 402, 429].includes(it?.status ?? 0))).toEqual([]);
    expect(atOnce + (await untilUsedUp(one.secret))).toBe(12);
    const spent = async () => (await spentBy(one.id)) + (await spentBy(other.id)) + (await spentBy(above.id));
    await until(async () => (await spent()) > 0.119);
    const refused = await call(1, one.secret);
    expect([refused?.status, refused?.type]).toEqual([402, "billing_error"]);
    expect(refused?.message).toStartWith(`The budget of the team "${web}" (0.12 USD a day) is used up.`);

    const ofAll = await parallel(30, above.secret);
    expect(count(ofAll, 200) + (await untilUsedUp(above.secret))).toBe(8);
    await until(async () => (await spent()) > 0.199);
    const last = await call(2, above.secret);
    expect(last?.message).toStartWith(`The budget of the team "${all}" (0.20 USD a month) is used up.`);
    expect(Math.round((await spent()) * 100)).toBe(20);
    expect(await reserved(one.id)).toBe(0);
    await admin("PUT", `/teams/${all}`, {});
    await until(async () => (await call(0, above.secret))?.status === 200);
  });

  test("share a budget to the cent after one of them had it to itself", async () => {
    const { id, secret } = await limitedKey(gatewayOf(0), { budget_usd: "1.20" });
    let answered = 0;
    await until(async () => {
      if ((await call(0, secret))?.status === 200) answered += 1;
      const alone = await sql`select 1 from limit_turns where key_id = ${id} and alone_until > now()`;
      // Calls of one address may come to any of several workers, so that none is alone.
      return alone.length > 0 || answered >= 50;
    });
    const atOnce = count(await parallel(150, secret), 200);
    expect(answered + atOnce + (await untilUsedUp(secret))).toBe(120);
    await until(async () => (await spentBy(id)) > 1.199);
    expect(await reserved(id)).toBe(0);
  });

  test("run no more calls at once than the key may have", async () => {
    const gate = Promise.withResolvers<void>();
    hold = () => gate.promise;
    const { secret } = await limitedKey(gatewayOf(0), { concurrency: 7 });
    let refused = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const outcome = await call(n, secret);
        if (outcome?.status === 429) refused += 1;
        // What is let through ends when everything else was refused, and not before.
        if (refused === 23) gate.resolve();
        return outcome;
      }),
    );
    hold = () => Promise.resolve();
    expect(count(outcomes, 200)).toBe(7);
    const again = await parallel(3, secret);
    expect(count(again, 200)).toBe(3);
  });

  test("200 parallel calls on a budget for 100 spend it and not a cent more", async () => {
    const { secret, id } = await limitedKey(gatewayOf(0), { budget_usd: "1" });
    const outcomes = await parallel(200, secret);
    const answered = count(outcomes, 200);
    expect(answered).toBeGreaterThanOrEqual(95);
    expect(answered).toBeLessThanOrEqual(100);
    await until(async () => (await spentBy(id)) * 100 > answered - 0.5);
    expect(Math.round((await spentBy(id)) * 100)).toBe(answered);
  });

  test("one killed in the midst of it overspends nothing, and its interrupted calls count at their bound", async () => {
    const { secret, id } = await limitedKey(gatewayOf(0), { budget_usd: "1", concurrency: 150 });
    const gate = Promise.withResolvers<void>();
    hold = () => gate.promise;
    const seenBefore = upstream.seen.length;
    const first = parallel(120, secret);
    // More than the calls that are sent to the other two gateways, which are 80.
    await until(() => upstream.seen.length - seenBefore > 91);
    await mortal.kill();
    gate.resolve();
    const outcomes = await first;
    hold = () => Promise.resolve();
    expect(outcomes.filter((outcome) => outcome === null).length).toBeGreaterThan(10);
    // Its places are free again, but not its part of the budget: the provider may have answered its calls.
    await until(async () => (await reserved(id)) === 0);
    const again = await Promise.all(Array.from({ length: 120 }, (_, n) => call(n % 2 === 0 ? 0 : 2, secret)));
    expect(count(outcomes, 200) + count(again, 200)).toBeLessThanOrEqual(90);
    // Its spool is taken over: what it had answered counts with its cost, the others with their bound.
    await replace();
    const [total] = await until(async () => {
      const [row] = await sql`select
      (select count(*)::int from limit_holds where key_id = ${id}) as holds,
      (select sum(usd)::text from key_spend where key_id = ${id}) as usd,
      (select sum(coalesce(cost_usd, bound_usd))::text from requests where key_id = ${id}) as recorded,
      (select count(*)::int from requests where key_id = ${id} and state = 'interrupted') as interrupted`;
      return row?.["holds"] === 0 && row["interrupted"] > 10 ? [row] : null;
    });
    expect(Number(total?.["usd"])).toBeLessThanOrEqual(1);
    expect(Number(total?.["usd"])).toBe(Number(total?.["recorded"]));
    const refused = await call(0, secret);
    expect([refused?.status, refused?.type]).toEqual([402, "billing_error"]);
  });
});
