import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type postgres from "postgres";
import { Registry } from "prom-client";
import type { BoundedQuery } from "#drizzle/deadline-pool.ts";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { GatewayError } from "#gateway/errors.ts";
import { parsePico } from "#gateway/limits/money.ts";
import { openAccounts } from "#gateway/stores/limits/accounts.ts";
import { write } from "#gateway/stores/limits/booking.ts";
import { openContact } from "#gateway/stores/limits/contact.ts";
import type { Grant } from "#gateway/stores/limits/grants.ts";
import { heartbeat, sweep } from "#gateway/stores/limits/holders.ts";
import { type Limiter, openLimiter } from "#gateway/stores/limits/limiter.ts";
import { Rounds } from "#gateway/stores/limits/rounds.ts";
import { openRecordStore } from "#gateway/stores/records.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { keptLog } from "#test/support/embedded.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { movableClock } from "../stores/movable-clock.ts";

let database: TestDatabase;
let sql: postgres.Sql;
let limiter: Limiter;

beforeAll(async () => {
  database = await testDatabase();
  sql = testSql(database.url);
  limiter = await begunLimiter();
});

async function begunLimiter(): Promise<Limiter> {
  const opened = openLimiter({
    databaseUrl: database.url,
    clock: systemClock,
    log: keptLog(),
    metrics: new Registry(),
    limitsAwayAfterMs: 5000,
    recorded: async () => undefined,
  });
  await opened.begun;
  return opened;
}

afterAll(async () => {
  await limiter.close();
});

const keyWith = (limits: KeyLimits) => ({
  id: newId(),
  name: "k",
  owner: null,
  teams: null,
  costCenter: null,
  sharedBudgets: [],
  scopes: {},
  limits,
  expiresAtMs: null,
});
type Key = ReturnType<typeof keyWith>;

const reserve = async (key: Key, usd: string, at = new Date(), by = limiter): Promise<Grant | GatewayError> =>
  await by.reserve({ id: newId(), key, admittedAt: at, recorded: true }, () => ({
    tokens: 1,
    usd: parsePico(usd),
    minimumUsd: parsePico(usd),
  }));

const isRefused = (answer: Grant | GatewayError): boolean => answer instanceof GatewayError;

const row = (keyId: string, id: string, rest: object = {}) =>
  JSON.stringify({
    id,
    startedAt: "2026-11-30T23:59:59.999Z",
    surface: "chat.completions",
    channel: "api",
    state: "ok",
    streamed: false,
    attempts: 1,
    route: "r",
    routeSource: "model",
    keyId,
    client: "c",
    tags: [],
    usageSource: "none",
    unpriced: false,
    partial: false,
    costUsd: "0.25",
    ...rest,
  });

test.each([
  ["month", "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00.000Z"],
  ["day", "2026-11-20T23:59:59.999Z", "2026-11-21T00:00:00.000Z"],
] as const)(
  "a budget by the %s begins anew at its first instant, and what is reserved stays in the old one",
  async (budget_period, last, first) => {
    const key = keyWith({ budget_usd: "1", budget_period });
    expect(isRefused(await reserve(key, "0.7", new Date(last)))).toBe(false);
    expect(isRefused(await reserve(key, "0.7", new Date(last)))).toBe(true);
    expect(isRefused(await reserve(key, "0.7", new Date(first)))).toBe(false);
    expect(isRefused(await reserve(key, "0.7", new Date(first)))).toBe(true);
  },
);

/** A process's accounts, with a clock that moves by hand; `statements` counts what they ask Postgres. */
async function openedAccounts() {
  const clock = movableClock();
  const contact = openContact({ clock, log: keptLog(), awayAfterMs: 60_000 });
  await contact.keep({ beat: async () => 1e9, afterwards: async () => undefined }).begun;
  const holder = newId();
  const asked = { statements: 0, before: async () => {} };
  const query: BoundedQuery = async (work) => {
    asked.statements += 1;
    await asked.before();
    return work(sql);
  };
  const rounds = new Rounds({ query, holder, contact, replicas: () => 1 });
  return {
    clock,
    holder,
    asked,
    accounts: openAccounts({ query, holder, clock, rounds, spentIn: () => 0n }),
  };
}

test("what a key has of a new period stays when its figures of the one before are dropped", async () => {
  const { clock, holder, accounts } = await openedAccounts();
  const key = {
    ...keyWith({ budget_usd: "100", budget_period: "day", when_away: "refuse" }),
    of: "key" as const,
  };
  const limits = key.limits ?? {};
  const demand = { tokens: 1, usd: parsePico("1"), minimumUsd: parsePico("1") };
  const call = async (startedAt: string) => {
    const account = accounts.of({ ...key, spendId: key.id, limits }, new Date(startedAt));
    const admitted = await account.admit({ callId: newId(), startedAt, limits, demand });
    if (admitted === null || "refusal" in admitted) throw new Error("not admitted");
    account.figures.end(admitted, { usd: "1", tokens: 1 });
  };
  await call("2026-11-20T23:59:59.000Z");
  clock.advance(91_000);
  await call("2026-11-21T00:01:30.000Z");
  await accounts.releaseIdle();
  const leases = await sql`select period::text as period from limit_leases where holder = ${holder}`;
  expect([...leases] as object[]).toEqual([{ period: "2026-11-21" }]);
});

test("what is spent is the sum of the records, however often and by whom they are written or priced anew", async () => {
  const [keyId, id] = [newId(), newId()];
  const store = openRecordStore(database.url);
  const rows = [
    row(keyId, id),
    row(keyId, newId(), { startedAt: "2026-12-01T00:00:00.000Z" }),
    row(keyId, newId(), { channel: "subscription" }),
    row(keyId, newId(), { channel: "batch", costUsd: "0.0000001" }),
    row(keyId, newId(), { costUsd: null, unpriced: true }),
  ];
  await store.insert(rows);
  await store.insert(rows);
  await sql`update requests set cost_usd = 1.5, unpriced = false where key_id = ${keyId} and cost_usd is null`;
  await sql`update requests set cost_usd = 0.5 where id = ${id}`;
  await store.close();
  const spent = await sql<{ day: string; usd: string }[]>`
    select day::text as day, usd::text as usd from key_spend where key_id = ${keyId} order by day`;
  expect([...spent] as object[]).toEqual([
    { day: "2026-11-30", usd: "2.0000001" },
    { day: "2026-12-01", usd: "0.25" },
  ]);
});

test("a record takes its reservation away in the transaction that counts its cost", async () => {
  const key = keyWith({ budget_usd: "1" });
  const id = newId();
  const at = new Date("2026-11-30T23:59:59.999Z");
  await limiter.reserve({ id, key, admittedAt: at, recorded: true }, () => ({
    tokens: 1,
    usd: parsePico("0.9"),
    minimumUsd: parsePico("0.9"),
  }));
  expect(isRefused(await reserve(key, "0.5", at))).toBe(true);
  const store = openRecordStore(database.url);
  await store.insert([row(key.id, id)]);
  await store.close();
  expect(await sql`select 1 from limit_holds where key_id = ${key.id}`).toHaveLength(0);
  // This process has not heard of the call's end.
  const other = await begunLimiter();
  expect(isRefused(await reserve(key, "0.75", at, other))).toBe(false);
  await other.close();
});

test("an interrupted call counts with the most that it may have cost, until its cost is known", async () => {
  const key = keyWith({ budget_usd: "1" });
  const id = newId();
  const at = new Date("2026-11-30T23:59:59.999Z");
  const store = openRecordStore(database.url);
  const unknown = { state: "interrupted", costUsd: null, unpriced: true, boundUsd: "0.75" };
  await store.insert([row(key.id, id, unknown)]);
  await store.insert([row(key.id, id, unknown)]);
  await store.close();
  expect(isRefused(await reserve(key, "0.5", at))).toBe(true);
  await sql`update requests set cost_usd = 0.1, unpriced = false where id = ${id}`;
  expect(await sql`select usd::text from key_spend where key_id = ${key.id}`).toMatchObject([
    { usd: "0.10" },
  ]);
  expect(isRefused(await reserve(key, "0.5", at))).toBe(false);
});

test("a call that was never sent leaves nothing reserved", async () => {
  const key = keyWith({ budget_usd: "1", concurrency: 1 });
  const grant = await reserve(key, "0.9");
  if (grant instanceof GatewayError) throw grant;
  await grant.release();
  expect(await sql`select 1 from limit_holds where key_id = ${key.id}`).toHaveLength(0);
  expect(isRefused(await reserve(key, "0.9"))).toBe(false);
});

test("what a dead process held is free once it has not been seen for 40 s; the most its calls may cost still counts", async () => {
  const held = async (holder: string) => {
    const found = await sql<
      { ended: boolean }[]
    >`select ended from limit_holds where holder = ${holder} order by ended`;
    return found.map(({ ended }) => ended);
  };
  const hold = async (holder: string, seenSecondsAgo: number) => {
    await sql`insert into limit_holders (holder, seen_at)
      values (${holder}, now() - make_interval(secs => ${seenSecondsAgo}))`;
    for (const ended of [false, true]) {
      await sql`insert into limit_holds (call_id, key_id, holder, started_at, usd, ended)
        values (${newId()}, ${newId()}, ${holder}, now(), 0.5, ${ended})`;
    }
  };
  const [dead, alive] = [newId(), newId()];
  await hold(dead, 41);
  await hold(alive, 30);
  const holder = newId();
  await heartbeat(sql, holder);
  await sweep(sql, holder, []);
  expect([await held(dead), await held(alive)]).toEqual([
    [true, true],
    [false, true],
  ]);
});

test("an account that no other process books is read once a second; calls that ask together ask once", async () => {
  const [one, other] = [await openedAccounts(), await openedAccounts()];
  const limits = { requests_per_minute: 9, concurrency: 2 };
  const key = { ...keyWith(limits), of: "key" as const };
  const ask = async ({ asked, accounts }: typeof one, calls = 1) => {
    const before = asked.statements;
    const account = accounts.of({ ...key, spendId: key.id, limits }, new Date());
    const demand = { tokens: 1, usd: 0n, minimumUsd: 0n };
    const call = () =>
      account.admit({ callId: newId(), startedAt: new Date().toISOString(), limits, demand });
    const answers = await Promise.all(Array.from({ length: calls }, call));
    const admitted = answers.flatMap((it) => (it === null || "refusal" in it ? [] : [it]));
    for (const it of admitted) account.figures.end(it, { usd: null, tokens: 1 });
    // No settlement is written: other processes see these calls until they end in Postgres.
    await sql`delete from limit_holds where key_id = ${key.id}`;
    return [admitted.length, asked.statements - before];
  };
  expect([await ask(one, 2), await ask(one), await ask(one, 2)]).toEqual([
    [2, 2],
    [1, 2],
    [2, 1],
  ]);
  // Remembered figures admit; only what is read for a call refuses it.
  expect(await ask(one, 3)).toEqual([2, 2]);
  expect(await ask(other)).toEqual([1, 2]);
  // Its booking is refused: the other process has written. Then it reads.
  expect(await ask(one)).toEqual([1, 3]);
  expect([await ask(one), await ask(other)]).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test("a busy process that alone books admits at once; another one's calls wait until both count together", async () => {
  const [one, other] = [await openedAccounts(), await openedAccounts()];
  const limits = { requests_per_minute: 400 };
  const key = { ...keyWith(limits), of: "key" as const };
  let admitted = 0;
  /** Whether it was decided before Postgres was asked. */
  const call = async ({ accounts }: typeof one): Promise<boolean> => {
    const account = accounts.of({ ...key, spendId: key.id, limits }, new Date());
    const demand = { tokens: 1, usd: 0n, minimumUsd: 0n };
    const asked = account.admit({ callId: newId(), startedAt: new Date().toISOString(), limits, demand });
    const admission = await asked;
    if (admission !== null && !("refusal" in admission)) admitted += 1;
    return !(asked instanceof Promise);
  };
  for (let seconds = 0; seconds < 3; seconds += 1) {
    expect(await call(one)).toBe(false);
    one.clock.advance(1001);
  }
  await until(async () => {
    await call(one);
    return call(one);
  });
  // However slow the machine is.
  await sql`update limit_turns set alone_until = now() + interval '5 seconds' where key_id = ${key.id}`;
  await Promise.all(Array.from({ length: 600 }, (_, n) => call(n % 3 === 0 ? one : other)));
  expect(admitted).toBe(400);
  const [counted] =
    await sql`select sum(requests)::int as requests from limit_rates where key_id = ${key.id}`;
  expect(counted?.["requests"]).toBe(400);
  // Both have booked, so neither is alone.
  expect(await call(one)).toBe(false);
});

test("a process that stands still after it admitted alone costs the others nothing of a budget", async () => {
  const [one, other] = [await openedAccounts(), await openedAccounts()];
  const limits = { budget_usd: "3" };
  const key = { ...keyWith(limits), of: "key" as const };
  const demand = { tokens: 1, usd: parsePico("0.01"), minimumUsd: parsePico("0.01") };
  const call = ({ accounts }: typeof one) =>
    accounts
      .of({ ...key, spendId: key.id, limits }, new Date())
      .admit({ callId: newId(), startedAt: new Date().toISOString(), limits, demand });
  const counts = (it: Awaited<ReturnType<typeof call>>) => (it === null || "refusal" in it ? 0 : 1);
  let admitted = 0;
  for (let seconds = 0; seconds < 3; seconds += 1) {
    admitted += counts(await call(one));
    one.clock.advance(1001);
  }
  await until(async () => {
    const asked = call(one);
    admitted += counts(await asked);
    return !(asked instanceof Promise);
  });
  const still = Promise.withResolvers<void>();
  one.asked.before = () => still.promise;
  let early = 0;
  let asked = call(one);
  for (; !(asked instanceof Promise); asked = call(one)) early += counts(asked);
  await sql`update limit_turns set alone_until = now() - interval '1 second' where key_id = ${key.id}`;
  for (let last = 1; last === 1; admitted += last) last = counts(await call(other));
  still.resolve();
  admitted += early + counts(await asked);
  expect([early > 0, admitted > 290, admitted <= 300]).toEqual([true, true, true]);
});

test("a process that alone books in one period is not alone where it books in another period, too", async () => {
  const { accounts, clock, asked } = await openedAccounts();
  const key = { ...keyWith({}), of: "key" as const };
  let admitted = 0;
  const call = async (budget_period: "day" | "month") => {
    const limits = { requests_per_minute: 100, budget_period };
    const account = accounts.of({ ...key, spendId: key.id, limits }, new Date());
    const demand = { tokens: 1, usd: 0n, minimumUsd: 0n };
    const asking = account.admit({ callId: newId(), startedAt: new Date().toISOString(), limits, demand });
    const admission = await asking;
    if (admission !== null && !("refusal" in admission)) admitted += 1;
    return !(asking instanceof Promise);
  };
  for (let seconds = 0; seconds < 3; seconds += 1) {
    await call("month");
    clock.advance(1001);
  }
  await until(async () => {
    await call("month");
    return call("month");
  });
  const all: Promise<boolean>[] = [];
  asked.before = async () => {
    if (all.length > 0) return;
    // However slow the machine is.
    await sql`update limit_turns set alone_until = now() + interval '5 seconds' where key_id = ${key.id}`;
    all.push(...Array.from({ length: 10 }, () => call("month")));
  };
  await Promise.all(Array.from({ length: 150 }, () => call("day")));
  await Promise.all(all);
  expect(admitted).toBe(100);
});

describe("a process that asks where another one books alone", () => {
  const another = newId();
  const asks = async (turn: number, aloneSeconds: number) => {
    const id = newId();
    await sql`insert into limit_turns (key_id, turn, holder, alone_until)
      values (${id}, 7, ${another}, now() + make_interval(secs => ${aloneSeconds}))`;
    const { accounts } = await openedAccounts();
    const limits = { requests_per_minute: 100 };
    const { figures } = accounts.of({ ...keyWith(limits), of: "key", id, spendId: id, limits }, new Date());
    const demand = { tokens: 1, usd: 0n, minimumUsd: 0n };
    const call = { callId: newId(), startedAt: new Date().toISOString(), limits, demand };
    const found = { nowMs: Date.now(), slots: [], spent: 0n, held: 0n, calls: 0, turn };
    const place = { accountId: id, period: figures.period, holder: newId() };
    const turns = await write(sql, [{ place, booking: figures.plan([call], found) }], []);
    return turns.get(id);
  };

  test("is seen by that one, however often it books meanwhile", async () => {
    expect([await asks(7, 5), await asks(4, 5)]).toEqual([null, null]);
  });

  test("does not wait for a moment that a clock which was set back has not reached", async () => {
    expect(await asks(7, 3600)).toBe(8);
  });
});

test("ends that no one waits for are written before a process ends", async () => {
  const own = await begunLimiter();
  const key = keyWith({ budget_usd: "1" });
  const grant = await reserve(key, "0.5", new Date(), own);
  if (grant instanceof GatewayError) throw grant;
  const other = reserve(keyWith({ budget_usd: "1" }), "0.5", new Date(), own);
  // That call's round has begun, and the end comes after it.
  await setImmediate();
  void grant.release();
  await own.close();
  await other;
  expect(await sql`select 1 from limit_holds where key_id = ${key.id}`).toHaveLength(0);
});

test("two processes that decide at once never let through more than there is", async () => {
  const other = await begunLimiter();
  const key = keyWith({ requests_per_minute: 10, budget_usd: "1" });
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await Bun.sleep(n % 7);
      return isRefused(await reserve(key, "0.01", new Date(), n % 2 === 0 ? limiter : other));
    }),
  );
  expect(answers.filter((refused) => !refused)).toHaveLength(10);
  await other.close();
});
