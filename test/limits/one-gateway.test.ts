import { beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { answerDone, priceCent } from "./cent-vendor.ts";
import { callOnce, limitedKey, type Outcome } from "./world.ts";

// The model `gpt-cent` costs a cent a call, whatever it says; `gpt-words` costs by the token.

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
/** Called when the provider is asked; its answer waits for the result. */
let arrive = (): Promise<void> => Promise.resolve();

/** All of the calls, while no answer comes before the last of them was let through or refused. */
async function together(calls: (() => Promise<Outcome>)[]): Promise<Outcome[]> {
  const gate = Promise.withResolvers<void>();
  let undecided = calls.length;
  const decide = () => {
    undecided -= 1;
    if (undecided === 0) gate.resolve();
  };
  arrive = () => {
    decide();
    return gate.promise;
  };
  const outcomes = await Promise.all(
    calls.map(async (one) => {
      const outcome = await one();
      if (outcome.status !== 200) decide();
      return outcome;
    }),
  );
  arrive = () => Promise.resolve();
  return outcomes;
}

beforeAll(async () => {
  upstream = await scriptedUpstream(async (request, reply) => {
    await arrive();
    const { model, stream } = JSON.parse(request.body);
    if (stream) {
      reply.head("text/event-stream");
      return reply.chunk('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    }
    const silent = {
      id: "c",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "done" } }],
    };
    if (model !== "gpt-silent") answerDone(request, reply);
    else reply.json({ ...silent, usage: { prompt_tokens: -7, completion_tokens: "5" } });
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  await priceCent(gateway, "gpt-cent");
  for (const model of ["gpt-words", "gpt-silent"]) {
    await gateway.admin("POST", "/prices", {
      model,
      effective_from: "2020-01-01",
      input: "1000",
      output: "1000",
    });
  }
});

const call = (
  secret: string,
  it: { model?: string; maxTokens?: number; session?: string; tier?: string; speed?: string } = {},
) => callOnce(gateway.url, secret, { model: "gpt-cent", ...it });

const holds = async (keyId: string): Promise<number> => {
  const [row] = await gateway.sql`select count(*)::int as n from limit_holds where key_id = ${keyId}`;
  return row?.["n"];
};

test("a budget is not stepped around by a tier whose price nobody knows; without a budget it may be asked for", async () => {
  const budgeted = await limitedKey(gateway, { budget_usd: "5" });
  for (const [asked, named] of [
    [{ tier: "scale" }, "service_tier: scale"],
    [{ speed: "fast" }, "speed: fast"],
  ] as const) {
    const { status, type, message, headers } = await call(budgeted.secret, asked);
    expect([status, type]).toEqual([402, "billing_error"]);
    expect(message).toBe(
      `The price of \`${named}\` is unknown, so a key with a budget may not use it. Leave it out.`,
    );
    expect(headers.get("x-should-retry")).toBe("false");
  }
  for (const tier of ["auto", "default", "flex"]) {
    expect((await call(budgeted.secret, { tier })).status).toBe(200);
  }
  const free = await limitedKey(gateway, { requests_per_minute: 5 });
  expect((await call(free.secret, { tier: "scale" })).status).toBe(200);
});

test("a key lets through its requests per minute, then says when to come again", async () => {
  const { secret } = await limitedKey(gateway, { requests_per_minute: 5 });
  const session = newId();
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => call(secret, { session })));
  expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = outcomes.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(7);
  for (const { type, headers } of refused) {
    expect(type).toBe("rate_limit_error");
    // Of a minute that began with the first call.
    expect(headers.get("retry-after")).toMatch(/^(?:[1-9]|[1-5]\d|6[01])$/);
    expect(headers.get("x-should-retry")).toBeNull();
    expect(headers.get("x-ratelimit-limit-requests")).toBe("5");
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
  }
  const records = await gateway.records(session, 12);
  const denied = records.filter(({ state }) => state === "denied");
  expect(denied).toHaveLength(7);
  expect(denied[0] as object).toMatchObject({
    status: 429,
    error_type: "rate_limited",
    cost_usd: "0",
    unpriced: false,
    attempts: 0,
  });
});

test("an answer that a provider gave carries no limit of ours", async () => {
  const { secret } = await limitedKey(gateway, { requests_per_minute: 5, budget_usd: "1" });
  const { status, headers } = await call(secret);
  expect(status).toBe(200);
  expect([...headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
});

test("calls beyond the tokens of a minute are refused, and what was not used is given back", async () => {
  const { secret } = await limitedKey(gateway, { tokens_per_minute: 1000 });
  // A bound of some 600 tokens each: two at once do not fit, but each uses 12.
  for (let n = 0; n < 4; n++) expect((await call(secret, { maxTokens: 500 })).status).toBe(200);
  const one = () => call(secret, { maxTokens: 500 });
  const both = await together([one, one]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 429]);
  const refused = both.find(({ status }) => status === 429);
  expect(refused?.headers.get("x-ratelimit-limit-tokens")).toBe("1000");
});

test("no more calls run at once than the key may have, and the next one fits as soon as one has ended", async () => {
  const { secret, id } = await limitedKey(gateway, { concurrency: 3 });
  const gate = Promise.withResolvers<void>();
  arrive = () => gate.promise;
  const running = Array.from({ length: 3 }, () => call(secret));
  await until(async () => (await holds(id)) === 3);
  const fourth = await call(secret);
  expect([fourth.status, fourth.type, fourth.headers.get("retry-after")]).toEqual([
    429,
    "rate_limit_error",
    "1",
  ]);
  gate.resolve();
  arrive = () => Promise.resolve();
  for (const { status } of await Promise.all(running)) expect(status).toBe(200);
  for (let n = 0; n < 5; n++) expect((await call(secret)).status).toBe(200);
});

test("a budget is spent to the cent, then refused for good until its period ends", async () => {
  const { secret, id, name } = await limitedKey(gateway, { budget_usd: "0.05", budget_period: "day" });
  const session = newId();
  const statuses: number[] = [];
  for (let n = 0; n < 7; n++) statuses.push((await call(secret, { session })).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 402, 402]);
  const last = await call(secret, { session });
  expect([last.type, last.code]).toEqual(["billing_error", "insufficient_quota"]);
  expect(last.headers.get("x-should-retry")).toBe("false");
  expect(last.headers.get("retry-after")).toBeNull();
  const [tomorrow] = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString().split("T");
  expect(last.message).toBe(
    `The budget of the key "${name}" (0.05 USD a day) is used up. The next one begins on ${tomorrow} at 00:00 UTC.`,
  );
  const records = await gateway.records(session, 8);
  expect(records.filter(({ error_type }) => error_type === "budget_exhausted")).toHaveLength(3);
  const [spent] = await gateway.sql`select usd from key_spend where key_id = ${id}`;
  expect(spent?.["usd"]).toBe("0.05");
  await until(async () => (await holds(id)) === 0);
});

test("answers that tell no usage count at the most that they were bounded to, so a budget ends", async () => {
  const { secret, id } = await limitedKey(gateway, { budget_usd: "1" });
  const session = newId();
  // Each may cost between 0.25 and 0.5 USD.
  const silent = () => call(secret, { model: "gpt-silent", maxTokens: 250, session });
  const statuses: number[] = [];
  for (let n = 0; n < 6; n++) statuses.push((await silent()).status);
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(4);
  expect(statuses.at(-1)).toBe(402);
  const records = await gateway.records(session, 6);
  for (const record of records.filter(({ state }) => state === "ok")) {
    expect(record).toMatchObject({ cost_usd: null, unpriced: true });
  }
  await until(async () => (await holds(id)) === 0);
  const [spent] = await gateway.sql`select usd::float8 as usd from key_spend where key_id = ${id}`;
  expect(spent?.["usd"]).toBeGreaterThan(0.5);
  expect(spent?.["usd"]).toBeLessThanOrEqual(1);
});

test("a client that leaves a route that then cancels does not leave its budget untouched", async () => {
  await gateway.admin("PUT", "/routes/leaving", {
    surface: "chat",
    provider: "chat-vendor",
    model: "gpt-silent",
    on_client_gone: "cancel",
  });
  const { secret, id } = await limitedKey(gateway, { budget_usd: "1" });
  const session = newId();
  const leave = new AbortController();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-session-id": session },
    body: JSON.stringify({ model: "leaving", stream: true, max_tokens: 250, messages: [] }),
    signal: leave.signal,
  });
  await answer.body?.getReader().read();
  leave.abort();
  expect(await gateway.records(session)).toMatchObject([{ state: "client_gone", cost_usd: null }]);
  const [spent] = await gateway.sql`select usd::float8 as usd from key_spend where key_id = ${id}`;
  expect(spent?.["usd"]).toBeGreaterThan(0.25);
});

test("a model that nobody prices is refused under a budget, or costs one that allows it nothing", async () => {
  const strict = await limitedKey(gateway, { budget_usd: "1" });
  const refused = await call(strict.secret, { model: "gpt-unknown", maxTokens: 250 });
  expect([refused.status, refused.code]).toEqual([403, "unpriced_model"]);
  const { secret, id } = await limitedKey(gateway, { budget_usd: "1", unpriced: "allow" });
  for (let n = 0; n < 3; n++) {
    expect((await call(secret, { model: "gpt-unknown", maxTokens: 250 })).status).toBe(200);
  }
  await until(async () => (await holds(id)) === 0);
  expect(await gateway.sql`select usd from key_spend where key_id = ${id} and usd <> 0`).toHaveLength(0);
});

test("parallel calls reserve their bound; what they do not use is there for the next", async () => {
  const { secret } = await limitedKey(gateway, { budget_usd: "0.5" });
  // Each may cost over 0.25 USD and costs 0.012.
  const call300 = () => call(secret, { model: "gpt-words", maxTokens: 150 });
  const first = await together([call300, call300, call300]);
  expect(first.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
  expect(first.find(({ status }) => status === 429)?.type).toBe("rate_limit_error");
  for (let n = 0; n < 5; n++) expect((await call300()).status).toBe(200);
});

test("where nobody says how long an answer may get, a call reserves what is left and runs alone", async () => {
  const { secret } = await limitedKey(gateway, { budget_usd: "0.5" });
  const unbounded = () => call(secret, { model: "gpt-words" });
  const both = await together([unbounded, unbounded]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 429]);
});

test("a call that may cost more than the whole budget is refused before it is sent", async () => {
  const { secret } = await limitedKey(gateway, { budget_usd: "0.1" });
  const before = upstream.seen.length;
  const { status, type, message } = await call(secret, { model: "gpt-words", maxTokens: 1000 });
  expect([status, type, upstream.seen.length]).toEqual([402, "billing_error", before]);
  expect(message).toContain("(0.1 USD a month) has 0.1 USD left, which does not cover what this call may");
});

test("a key without limits asks Postgres for nothing", async () => {
  const { secret, id } = await limitedKey(gateway, {});
  const before = await gateway.sql`select count(*)::int as n from limit_rates`;
  expect((await call(secret)).status).toBe(200);
  expect(await gateway.sql`select count(*)::int as n from limit_rates`).toEqual(before);
  expect(await holds(id)).toBe(0);
});
