import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { type Lease, runLeased, takeLease } from "#drizzle/leases/lease.ts";
import { poll } from "#drizzle/leases/poll.ts";
import { githubTasks } from "#drizzle/schema/github-app.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keptLog } from "#test/support/github-app.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

const LEASE_MS = 30_000;
const MINUTE_MS = 60_000;

let own: TestDatabase;
let database: Database;
let nowMs = Date.parse("2026-11-23T10:00:00Z");
const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };

beforeAll(async () => {
  own = await testDatabase();
  database = openDatabase(own.url, { name: "test", max: 10, statementTimeoutMs: 60_000 });
});
afterAll(async () => {
  await database.close();
  await own.close();
});
beforeEach(async () => {
  await database.sql`truncate github_tasks`;
  await database.db.insert(githubTasks).values([{ name: "reconcile" }, { name: "redeliver" }]);
});

type Task = typeof githubTasks.$inferSelect;
const named = (name: Task["name"]) => eq(githubTasks.name, name);
const take = (where = named("reconcile")) =>
  takeLease({ database, clock }, githubTasks, { where, leaseMs: LEASE_MS });
const taken = async (): Promise<Lease<Task>> => {
  const lease = await take();
  if (!lease) throw new Error("not taken");
  return lease;
};
const row = async () => (await database.db.select().from(githubTasks).where(named("reconcile")))[0];

describe("a lease", () => {
  test("is one process's alone, until it is given back", async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => take()));
    const [lease, ...others] = all.filter((it) => it !== null);
    expect(others).toEqual([]);
    expect(await lease?.finish({ doneAt: "2026-11-23T10:00:00.000Z" })).toBe(true);
    expect(await row()).toMatchObject({ doneAt: "2026-11-23T10:00:00.000Z", leasedUntil: null });
    expect(await take()).not.toBeNull();
  });

  test("takes one row of several, and leaves the others", async () => {
    const any = eq(githubTasks.orgId, DEFAULT_ORG);
    const names = [await take(any), await take(any)].map((it) => it?.row.name);
    expect(names.sort()).toEqual(["reconcile", "redeliver"]);
    expect(await take(any)).toBeNull();
  });

  test("is of its row alone, also when another row was taken in the same millisecond", async () => {
    const lease = await taken();
    const other = await take(named("redeliver"));
    await lease.finish({ doneAt: "2026-11-23T10:00:00.000Z" });
    const [redeliver] = await database.db.select().from(githubTasks).where(named("redeliver"));
    expect(redeliver).toMatchObject({ doneAt: null, leasedUntil: expect.any(String) });
    expect(await other?.renew()).toBe(true);
  });

  test("skips a row that a transaction has locked", async () => {
    await database.db.transaction(async (tx) => {
      await tx.select().from(githubTasks).where(named("reconcile")).for("update");
      expect(await take()).toBeNull();
    });
    expect(await take()).not.toBeNull();
  });

  test("that expired is another's, and the first one writes nothing any more", async () => {
    const first = await taken();
    nowMs += LEASE_MS - 1;
    expect(await take()).toBeNull();
    nowMs += 1;
    const second = await taken();
    expect(await first.renew()).toBe(false);
    expect(await first.finish({ doneAt: "2020-01-01T00:00:00.000Z" })).toBe(false);
    await first.retry(new Error("late"));
    expect(await row()).toMatchObject({ doneAt: null, failure: null, leasedUntil: expect.any(String) });
    expect(await second.finish({})).toBe(true);
  });

  test("lasts its full time again when it is renewed", async () => {
    const lease = await taken();
    nowMs += LEASE_MS - 1;
    expect(await lease.renew()).toBe(true);
    nowMs += LEASE_MS - 1;
    expect(await take()).toBeNull();
    expect(await lease.finish({})).toBe(true);
  });

  test("refuses an effect that cannot be repeated when it is about to expire", async () => {
    const lease = await taken();
    nowMs += (LEASE_MS * 2) / 3;
    lease.assertHeld();
    nowMs += 1;
    expect(() => lease.assertHeld()).toThrow();
    await lease.renew();
    lease.assertHeld();
  });

  test("of work that fails backs off from one minute to six hours, and keeps the failure's class only", async () => {
    const waits: number[] = [];
    for (let failures = 0; failures < 11; failures++) {
      const failed = await runLeased(await taken(), () => {
        throw Object.assign(new TypeError("CANARY"), { code: "E_BAD" });
      });
      expect(failed?.error).toBeInstanceOf(TypeError);
      const { nextAttemptAt, failure, attempts } = (await row()) ?? {};
      expect([failure, attempts]).toEqual(["TypeError E_BAD", failures + 1]);
      const waitMs = Date.parse(nextAttemptAt ?? "") - nowMs;
      nowMs += waitMs - 1;
      expect(await take()).toBeNull();
      nowMs += 1;
      waits.push(waitMs / MINUTE_MS);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    expect(await runLeased(await taken(), async () => ({}))).toBeNull();
    expect(await row()).toMatchObject({ attempts: 0, failure: null, nextAttemptAt: null });
  });
});

describe("polling", () => {
  test("goes on at once while there is more to do, and when it is woken", async () => {
    const { log } = keptLog();
    let rounds = 0;
    const third = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const poller = poll({
      log,
      pollMs: 3_600_000,
      round: async () => {
        rounds++;
        if (rounds === 3) third.resolve();
        if (rounds === 4) woken.resolve();
        return rounds < 3;
      },
    });
    await third.promise;
    poller.wake();
    await woken.promise;
    await poller.stop();
    expect(rounds).toBe(4);
  });

  test("logs an outage once and its end, and no message of an error", async () => {
    const { log, lines } = keptLog();
    let rounds = 0;
    const works = Promise.withResolvers<void>();
    const poller = poll({
      log,
      pollMs: 1,
      round: async () => {
        if (++rounds < 4) throw new Error("CANARY");
        works.resolve();
        return false;
      },
    });
    await works.promise;
    await poller.stop();
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(["a round of work failed", "work resumed"]);
    expect(lines.join()).not.toContain("CANARY");
  });

  test("stops when the round under way is done", async () => {
    const { log } = keptLog();
    const going = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let sawStop = false;
    const poller = poll({
      log,
      pollMs: 1,
      round: async (stopping) => {
        going.resolve();
        await end.promise;
        sawStop = stopping();
        return true;
      },
    });
    await going.promise;
    const stopped = poller.stop();
    end.resolve();
    await stopped;
    expect(sawStop).toBe(true);
  });
});
