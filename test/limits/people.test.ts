import { beforeAll, describe, expect, test } from "bun:test";
import { type Browser, signIn } from "#test/identity/browser.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { doneVendor, priceCent } from "./cent-vendor.ts";
import { callOnce } from "./world.ts";

// A person's limits count all keys of the person together. The model `gpt-cent` costs a cent a call.

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

type Made = { id: string; secret: string };
type Person = { id: string; browser: Browser };

beforeAll(async () => {
  upstream = await doneVendor();
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  await priceCent(gateway, "gpt-cent");
});

async function person(name: string, facts: object = {}): Promise<Person> {
  const email = `${name}@example.com`;
  const { id } = await gateway.admin<{ id: string }>("POST", "/people", { email, ...facts });
  return { id, browser: await signIn(gateway, email) };
}

async function ownKey({ browser }: Person, name: string): Promise<Made> {
  const answer = await browser.send("POST", "/v1/me/keys", { name });
  expect([name, answer.status]).toEqual([name, 201]);
  return answer.json();
}

const cent = (secret: string, model = "gpt-cent") => callOnce(gateway.url, secret, { model, maxTokens: 1 });
const statuses = async (calls: Promise<{ status: number }>[]) =>
  (await Promise.all(calls)).map(({ status }) => status).sort();

describe("the limits of the template for own keys", () => {
  beforeAll(async () => {
    const limits = { budget_usd: "0.03", budget_period: "month", requests_per_minute: 30 };
    await gateway.admin("PATCH", "/settings", { own_key_template: { limits } });
  });

  test("are shared by all keys that a person makes, ten at once and revoked ones included", async () => {
    const ann = await person("ann");
    const keys = await Promise.all(Array.from({ length: 10 }, (_, n) => ownKey(ann, `key ${n}`)));
    const answers = await statuses(keys.map(({ secret }) => cent(secret)));
    expect(answers.filter((status) => status === 200)).toHaveLength(3);
    // The rest was refused, for good or because running calls had reserved what was left.
    expect(answers.filter((status) => ![200, 402, 429].includes(status))).toEqual([]);
    for (const { id } of keys) await ann.browser.send("DELETE", `/v1/me/keys/${id}`);
    const again = await cent((await ownKey(ann, "another")).secret);
    expect([again.status, again.message]).toEqual([
      402,
      expect.stringContaining("ann@example.com's own keys"),
    ]);
    const { month } = await (await ann.browser.send("GET", "/v1/me")).json();
    expect(month).toMatchObject({ cost_usd: "0.03", budget_usd: "0.03", budget_left_usd: "0" });
    expect(await statuses([cent((await ownKey(await person("bob"), "first")).secret)])).toEqual([200]);
  });

  test("count calls a minute of all of them", async () => {
    const cid = await person("cid");
    const limits = { requests_per_minute: 2 };
    await gateway.admin("PATCH", "/settings", { own_key_template: { limits } });
    const [one, other] = [await ownKey(cid, "one"), await ownKey(cid, "other")];
    expect(await statuses([one, other, one, other].map(({ secret }) => cent(secret)))).toEqual([
      200, 200, 429, 429,
    ]);
    await gateway.admin("PATCH", "/settings", { own_key_template: {} });
  });
});

describe("a person's budget", () => {
  test("counts all keys with this owner, in any case, and says whose it is", async () => {
    const dan = await person("dan", { budget_usd: "0.02" });
    const given = await gateway.admin<Made>("POST", "/keys", {
      name: "given to dan",
      owner: "Dan@Example.com",
    });
    const own = await ownKey(dan, "own");
    expect([(await cent(given.secret)).status, (await cent(own.secret)).status]).toEqual([200, 200]);
    const refused = await cent(given.secret);
    expect([refused.status, refused.message]).toEqual([
      402,
      expect.stringContaining("The budget of Dan@Example.com (0.02 USD a month) is used up."),
    ]);
    const me = await (await dan.browser.send("GET", "/v1/me")).json();
    expect(me.month).toMatchObject({ cost_usd: "0.02", budget_usd: "0.02", budget_left_usd: "0" });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/budgets");
    expect(data).toContainEqual(
      expect.objectContaining({
        kind: "person",
        name: "dan@example.com",
        budget_usd: "0.02",
        used_usd: "0.02",
      }),
    );
    expect(data).toContainEqual(
      expect.objectContaining({
        kind: "own_keys",
        name: "ann@example.com",
        budget_usd: "0.03",
        used_usd: "0.03",
      }),
    );
    const changed = await gateway.admin("PATCH", `/people/${dan.id}`, {
      budget_usd: "1",
      budget_period: "day",
    });
    expect(changed).toMatchObject({ budget_usd: "1", budget_period: "day", unpriced: "refuse" });
    expect((await cent(given.secret)).status).toBe(200);
    expect(await gateway.admin("PATCH", `/people/${dan.id}`, { budget_usd: null })).toMatchObject({
      budget_usd: null,
      budget_period: null,
      unpriced: null,
    });
  });

  test("is booked for the owner by records and by nothing else", async () => {
    const eve = await person("eve", { budget_usd: "0.02" });
    const own = await ownKey(eve, "own");
    const others = await gateway.admin<Made>("POST", "/keys", { name: "others", owner: "zoe@example.com" });
    const labelled = { model: "gpt-cent", user: "eve@example.com", messages: [] };
    for (let times = 0; times < 3; times++) {
      await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${others.secret}`, "content-type": "application/json" },
        body: JSON.stringify(labelled),
      }).then((answer) => answer.text());
    }
    expect((await cent(own.secret)).status).toBe(200);
  });
});

describe("a model without a price", () => {
  const unpriced = (secret: string) => cent(secret, "gpt-nobody-prices-it");
  test("is refused by a person's and a team's budget unless they allow it", async () => {
    const fay = await person("fay", { budget_usd: "1" });
    const key = await gateway.admin<Made>("POST", "/keys", { name: "of fay", owner: "fay@example.com" });
    const refused = await unpriced(key.secret);
    expect([refused.status, refused.code]).toEqual([403, "unpriced_model"]);
    await gateway.admin("PATCH", `/people/${fay.id}`, { unpriced: "allow" });
    expect((await unpriced(key.secret)).status).toBe(200);
    await gateway.admin("PUT", "/teams/strict", { budget_usd: "1" });
    await gateway.admin("PATCH", `/people/${fay.id}`, { team: "strict" });
    expect((await unpriced(key.secret)).code).toBe("unpriced_model");
    await gateway.admin("PATCH", "/teams/strict", { unpriced: "allow" });
    expect((await unpriced(key.secret)).status).toBe(200);
  });

  test("is left out of a route's fallbacks under a budget, and its refusal is a record", async () => {
    await gateway.admin("PUT", "/routes/careful", {
      surface: "chat",
      provider: "chat-vendor",
      model: "gpt-nobody-prices-it",
      fallbacks: [{ provider: "chat-vendor", model: "gpt-cent" }],
    });
    const limits = { budget_usd: "1" };
    const { secret } = await gateway.admin<Made>("POST", "/keys", { name: "careful", limits });
    const answer = await callOnce(gateway.url, secret, {
      model: "careful",
      maxTokens: 1,
      session: "careful",
    });
    expect(answer.status).toBe(200);
    expect((await gateway.records("careful"))[0]).toMatchObject({ model: "gpt-cent", attempts: 1 });
    await callOnce(gateway.url, secret, { model: "gpt-nobody-prices-it", session: "refused" });
    expect((await gateway.records("refused"))[0]).toMatchObject({
      state: "denied",
      status: 403,
      error_type: "unpriced_model",
    });
  });
});
