import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { connect, type Database, openDatabase } from "#drizzle/database.ts";
import { batches } from "#drizzle/schema/batches.ts";
import { requests } from "#drizzle/schema/records.ts";
import { GatewayError } from "#gateway/errors.ts";
import { parsePico } from "#gateway/limits/money.ts";
import { budgetPeriodAt } from "#gateway/limits/window.ts";
import { openLimiter } from "#gateway/stores/limits/limiter.ts";
import { loadSharedBudgets } from "#gateway/stores/named-budgets.ts";
import { sumPastSpend } from "#gateway/stores/past-spend.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { recordAt } from "#test/admin/records.ts";
import { keptLog } from "#test/support/embedded.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { doneVendor, priceCent } from "./cent-vendor.ts";
import { callOnce } from "./world.ts";

// Budgets with names of their own. Each call costs a cent: `gpt-direct` has no route, `gpt-cent` is behind all of them.

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let connected: Database;

type Made = { id: string; secret: string };
type Listed = { name: string; kind: string; used_usd: string };

beforeAll(async () => {
  upstream = await doneVendor();
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  for (const model of ["gpt-cent", "gpt-direct"]) await priceCent(gateway, model);
  connected = openDatabase(gateway.databaseUrl, { name: "test", max: 3, statementTimeoutMs: 60_000 });
  for (const name of ["narrow", "wide"]) {
    await gateway.admin("PUT", `/routes/${name}`, {
      surface: "chat",
      provider: "chat-vendor",
      model: "gpt-cent",
    });
  }
  await gateway.admin("PUT", "/teams/company", {});
  await gateway.admin("PUT", "/teams/web", { parent: "company" });
});

afterAll(() => connected.close());

const key = (name: string, facts: object = {}) => gateway.admin<Made>("POST", "/keys", { name, ...facts });
const budget = (name: string, on: object, facts: object = {}) =>
  gateway.admin("PUT", `/budgets/${name}`, { on, amount_usd: "0.02", ...facts });
const cent = (secret: string, model = "gpt-direct", tags?: string) =>
  callOnce(gateway.url, secret, { model, maxTokens: 1, ...(tags && { tags }) });
/** Once each past is counted, for which the answer to a change waits five seconds at most. */
const usedOf = async (name: string) => {
  await until(async () => {
    const open =
      await connected.sql`select 1 from budgets where past_summed_at is null and kind in ('organisation', 'route', 'tag')`;
    return open.length === 0;
  });
  const { data } = await gateway.admin<{ data: Listed[] }>("GET", "/budgets");
  return data.find((it) => it.kind === "budget" && it.name === name)?.used_usd;
};

test("periods are of UTC, a week begins on Monday, and a quarter in January, April, July or October", () => {
  const at = new Date("2027-01-03T23:59:59.999Z");
  expect(budgetPeriodAt("week", at)).toEqual({ from: "2026-12-28", to: "2027-01-04" });
  expect(budgetPeriodAt("quarter", at)).toEqual({ from: "2027-01-01", to: "2027-04-01" });
  expect(budgetPeriodAt("week", new Date("2027-01-04"))).toEqual({ from: "2027-01-04", to: "2027-01-11" });
  expect(budgetPeriodAt("quarter", new Date("2026-12-31"))).toEqual({ from: "2026-10-01", to: "2027-01-01" });
});

describe("a hard budget refuses what is over it, with its name, and nothing else, on", () => {
  const refused = async (secret: string, on: string, model?: string, tags?: string) => {
    expect((await cent(secret, model, tags)).status).toBe(200);
    expect((await cent(secret, model, tags)).status).toBe(200);
    const { status, type, message } = await cent(secret, model, tags);
    expect([status, type]).toEqual([402, "billing_error"]);
    expect(message).toContain(`The budget of ${on}`);
    expect(message).toContain("is used up.");
  };

  test.each(["day", "week", "month", "quarter"])("a route, in a %s", async (period) => {
    const { secret } = await key(`by route in a ${period}`);
    await gateway.admin("PUT", `/routes/in-a-${period}`, {
      surface: "chat",
      provider: "chat-vendor",
      model: "gpt-cent",
    });
    await budget(`route-${period}`, { kind: "route", id: `in-a-${period}` }, { period });
    const on = `the route "in-a-${period}", named "route-${period}", (0.02 USD a ${period})`;
    await refused(secret, on, `in-a-${period}`);
    expect((await cent(secret, "wide")).status).toBe(200);
    expect(await usedOf(`route-${period}`)).toBe("0.02");
  });

  test("a tag", async () => {
    const { secret } = await key("by tag");
    await budget("spikes", { kind: "tag", id: "spike" });
    await refused(secret, 'the tag "spike", named "spikes",', "gpt-direct", "a,spike");
    expect((await cent(secret, "gpt-direct", "a")).status).toBe(200);
  });

  test("a key, given by its name", async () => {
    const { secret } = await key("by key");
    const other = await key("another key");
    const made = await budget("one-key", { kind: "key", id: "by key" });
    expect(made).toMatchObject({
      on: { kind: "key", id: "by key" },
      period: "month",
      mode: "hard",
      unpriced: "refuse",
    });
    await refused(secret, 'the key "by key", named "one-key",');
    expect((await cent(other.secret)).status).toBe(200);
  });

  test("a person, in any case, and a team with those below it", async () => {
    const { secret } = await key("of fay", { owner: "Fay@example.com" });
    await budget("fay", { kind: "person", id: "fay@Example.com" });
    await refused(secret, 'the person "fay@Example.com", named "fay",');
    const below = await key("below", { team: "web" });
    await budget("company", { kind: "team", id: "company" });
    await refused(below.secret, 'the team "company", named "company",');
  });

  test("the organisation, whatever was spent before it was made", async () => {
    const { secret } = await key("anyone");
    expect((await cent(secret)).status).toBe(200);
    // Made while the record of that call may still be on its way.
    await budget("all", { kind: "organisation" });
    expect((await cent(secret)).message).toContain('The budget of the organisation, named "all",');
    await gateway.admin("PATCH", "/budgets/all", { mode: "soft", amount_usd: 0.01 });
    expect((await cent(secret)).status).toBe(200);
    await gateway.admin("DELETE", "/budgets/all");
  });
});

test("a budget counts exactly what its records cost, also those that came while it was made or moved", async () => {
  const { secret } = await key("many");
  const before = Array.from({ length: 12 }, () => cent(secret, "narrow", "x"));
  await Promise.all([
    ...before,
    budget("moved", { kind: "tag", id: "x" }, { mode: "soft" }),
    budget("narrow", { kind: "route", id: "narrow" }, { amount_usd: "0.3", period: "week" }),
  ]);
  await gateway.admin("PATCH", "/budgets/moved", { on: { kind: "route", id: "narrow" } });
  expect([await usedOf("moved"), await usedOf("narrow")]).toEqual(["0.12", "0.12"]);
  const answers = await Promise.all(Array.from({ length: 40 }, () => cent(secret, "narrow")));
  let passed = answers.filter(({ status }) => status === 200).length;
  // Those that running calls left no room for are tried again.
  for (let last = 200; last !== 402; ) {
    ({ status: last } = await cent(secret, "narrow"));
    if (last === 200) passed += 1;
  }
  expect(passed).toBe(18);
  expect(await usedOf("narrow")).toBe("0.3");
});

test("a model without a price is refused on the route or with the tag of a hard budget alone", async () => {
  const { secret } = await key("unpriced");
  await gateway.admin("PUT", "/routes/unknown", {
    surface: "chat",
    provider: "chat-vendor",
    model: "gpt-no-price",
  });
  const on = { kind: "route", id: "unknown" };
  await budget("unknown", on);
  expect((await cent(secret, "unknown")).code).toBe("unpriced_model");
  expect((await cent(secret, "gpt-no-price-either")).status).toBe(200);
  for (const change of [{ mode: "soft" }, { mode: "hard", unpriced: "allow" }]) {
    await gateway.admin("PATCH", "/budgets/unknown", change);
    expect((await cent(secret, "unknown")).status).toBe(200);
  }
});

test("what does not exist cannot have a budget", async () => {
  for (const [on, fault] of [
    [{ kind: "team", id: "nowhere" }, "/on/id: No team is named nowhere."],
    [{ kind: "route", id: "nowhere" }, "/on/id: No route is named nowhere."],
    [{ kind: "key", id: "nowhere" }, "/on/id: No key is named nowhere."],
    [{ kind: "tag" }, "/on/id: Expected the tag."],
    [{ kind: "organisation", id: "x" }, "/on/id: Expected nothing for the organisation."],
  ] as const) {
    await expect(budget("wrong", on)).rejects.toThrow(fault);
  }
});

test("gateways share a budget to the cent, and a batch reserves in the budgets of its tags", async () => {
  const limiters = await Promise.all(
    [1, 2, 3].map(async () => {
      const limiter = openLimiter({
        databaseUrl: gateway.databaseUrl,
        clock: systemClock,
        log: keptLog(),
        metrics: new Registry(),
        limitsAwayAfterMs: 5000,
        recorded: async () => undefined,
      });
      await limiter.begun;
      return limiter;
    }),
  );
  await budget("shared", { kind: "tag", id: "shared" }, { amount_usd: "7", period: "quarter" });
  const [shared] = (await loadSharedBudgets(connected.db)).filter((it) => it.budget?.name === "shared");
  if (!shared) throw new Error("it was made");
  const plain = { name: "k", owner: null, teams: null, costCenter: null, scopes: {}, expiresAtMs: null };
  const counted = { ...plain, id: newId(), limits: null, sharedBudgets: [shared] };
  const dollar = { tokens: 0, usd: parsePico("1"), minimumUsd: parsePico("1") };
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      limiters[n % 3]?.reserve(
        { id: newId(), key: counted, admittedAt: new Date(), recorded: true },
        () => dollar,
      ),
    ),
  );
  expect(answers.filter((it) => !(it instanceof GatewayError))).toHaveLength(7);
  for (const limiter of limiters) await limiter.close();

  const { secret } = await key("of batches");
  await budget("batched", { kind: "tag", id: "batched" }, { amount_usd: "0.000001" });
  const seen = upstream.seen.length;
  const answer = await fetch(`${gateway.url}/v1/messages/batches`, {
    method: "POST",
    headers: { "x-api-key": secret, "content-type": "application/json", "x-tags": "batched" },
    body: JSON.stringify({
      requests: [
        {
          custom_id: "a",
          params: { model: "claude-opus-4-6", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
        },
      ],
    }),
  });
  expect([answer.status, (await answer.json()).error.message]).toEqual([
    402,
    expect.stringContaining('The budget of the tag "batched", named "batched",'),
  ]);
  expect(upstream.seen).toHaveLength(seen);
});

test("a batch over several routes counts in the budget of each, also in one that is made later, and with its new cost", async () => {
  const { id: keyId } = await key("of several");
  const at = new Date().toISOString();
  const recordId = newId();
  await connected.db.insert(batches).values({
    ...{
      id: "batch_several",
      kind: "lines",
      keyId,
      provider: "chat-vendor",
      endpoint: "/v1/chat/completions",
    },
    ...{ completionWindow: "24h", status: "completed", facts: {}, createdAt: at, recordId, startedAt: at },
    ...{ routes: ["first", "second", "third"], models: ["gpt-cent"], client: "x", tags: [], nextCheckAt: at },
  });
  for (const name of ["first", "second", "third"])
    await gateway.admin("PUT", `/routes/${name}`, {
      surface: "chat",
      provider: "chat-vendor",
      model: "gpt-cent",
    });
  await budget("of-first", { kind: "route", id: "first" });
  const facts = { id: recordId, keyId, channel: "batch", route: "(several)", costUsd: "0.25" } as const;
  await connected.db.insert(requests).values(recordAt(at, facts));
  await budget("of-second", { kind: "route", id: "second" });
  expect([await usedOf("of-first"), await usedOf("of-second")]).toEqual(["0.25", "0.25"]);
  await connected.sql`update requests set cost_usd = 0.5 where id = ${recordId}`;
  expect([await usedOf("of-first"), await usedOf("of-second")]).toEqual(["0.5", "0.5"]);
});

test("while the past of a new budget is summed up, records are stored, and each counts once", async () => {
  const { id: keyId } = await key("slow past");
  const store = (costUsd: string) =>
    connected.db
      .insert(requests)
      .values(recordAt(new Date().toISOString(), { keyId, costUsd, tags: ["past"] }));
  await store("1");
  const locking = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const [locked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The sum waits for this lock, and writers do not.
  const held = locking.begin(async (tx) => {
    await tx`lock table tool_calls in access exclusive mode`;
    locked.resolve();
    await go.promise;
  });
  // On a busy machine its connection takes longer than a sum does.
  await locked.promise;
  const made = budget("past", { kind: "tag", id: "past" }, { mode: "soft" });
  await until(async () => {
    const waiting =
      await connected.sql`select 1 from pg_locks where relation = 'tool_calls'::regclass and not granted`;
    return waiting.length > 0;
  });
  await store("2");
  const [row] = await connected.sql`select past_summed_at from budgets where name = 'past'`;
  expect(row?.["past_summed_at"]).toBeNull();
  go.resolve();
  await Promise.all([held, made]);
  await locking.end();
  expect(await usedOf("past")).toBe("3");
  // A second budget on the same tag, and one whose gateway ended before it was done.
  await budget("past-again", { kind: "tag", id: "past" }, { mode: "soft" });
  expect([await usedOf("past"), await usedOf("past-again")]).toEqual(["3", "3"]);
  // In this order: the round of each minute may come between.
  await connected.sql`delete from key_spend where key_id = (select account from budgets where name = 'past')`;
  await connected.sql`update budgets set past_summed_at = null where scope_id = 'past'`;
  await sumPastSpend(connected, 60_000);
  expect([await usedOf("past"), await usedOf("past-again")]).toEqual(["3", "3"]);
});

test("what is booked for a new budget stays while its past is summed up, also when that fails, and no one waits for it", async () => {
  const { id: keyId } = await key("broken past");
  const store = (costUsd: string) =>
    connected.db
      .insert(requests)
      .values(recordAt(new Date().toISOString(), { keyId, costUsd, tags: ["broken"] }));
  const booked = async () => {
    const [row] = await connected.sql`select sum(usd)::float8 as usd from key_spend
      where key_id = (select account from budgets where name = 'broken')`;
    return row?.["usd"];
  };
  const scan = async () => {
    const [row] =
      await connected.sql`select pid from pg_locks where relation = 'tool_calls'::regclass and not granted`;
    return row?.["pid"];
  };
  await store("1");
  const locking = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const [locked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = locking.begin(async (tx) => {
    await tx`lock table tool_calls in access exclusive mode`;
    locked.resolve();
    await go.promise;
  });
  // On a busy machine its connection takes longer than a sum does.
  await locked.promise;
  const made = budget("broken", { kind: "tag", id: "broken" });
  await until(async () => (await scan()) !== undefined);
  await store("2");
  // The round of each minute may be the one that sums up; a server process releases its locks after it has answered.
  const ended = async () => {
    const left = await connected.sql`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and granted and objid::int8 = hashtext('past spend')::int8 & 4294967295
        and database = (select oid from pg_database where datname = current_database())`;
    return left.length === 0;
  };
  let saved = false;
  const saving = made.then(() => {
    saved = true;
  });
  // It is saved all the same.
  await until(async () => (await ended()) && saved);
  await saving;
  // From here on, no one else sums up.
  await gateway.stop();
  await until(ended);
  const again = sumPastSpend(connected).catch(() => "failed");
  await until(async () => (await scan()) !== undefined);
  expect(await booked()).toBe(2);
  // Another gateway leaves it to the one that sums up.
  await sumPastSpend(connected);
  await connected.sql`select pg_cancel_backend(${await scan()})`;
  expect([await again, await booked()]).toEqual(["failed", 2]);
  go.resolve();
  await held;
  // A writer that has not ended is waited for, and no other waits long behind that.
  const [stored, writing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const writer = locking.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock_shared(hashtext('budgets'))`;
    writing.resolve();
    await stored.promise;
  });
  await writing.promise;
  const late = sumPastSpend(connected).catch((error) => error.cause.code);
  await store("4");
  expect([await late, await booked()]).toEqual(["55P03", 6]);
  stored.resolve();
  await writer;
  await locking.end();
  await sumPastSpend(connected);
  expect(await booked()).toBe(7);
});
