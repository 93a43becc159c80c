import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RECONCILIATION_PARTS, type Reconciliation } from "#shared/admin/reconciliation.ts";
import { ADMIN_KEY } from "../support/gateway-process.ts";
import { until } from "../support/until.ts";
import { type WiredGateway, wiredGateway } from "../support/wired-gateway.ts";
import { type Asked, type MockVendor, mockVendor } from "./vendor.ts";

const DAY_MS = 86_400_000;
const yesterday = () => new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);

let vendor: MockVendor;
let gateway: WiredGateway;
let calls = 0;

beforeAll(async () => {
  vendor = mockVendor(yesterday);
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/providers/chat-vendor", { models: ["gpt-*", "text-*"] });
});
afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

const headers = { "content-type": "application/json" };
const messages = [{ role: "user", content: "Weather?" }];
const PATHS = {
  messages: ["/v1/messages", { max_tokens: 100, messages }],
  chat: ["/v1/chat/completions", { messages }],
  responses: ["/v1/responses", { input: "Weather?" }],
  embeddings: ["/v1/embeddings", { input: "Weather?" }],
  images: ["/v1/images/generations", { prompt: "Rain.", n: 1 }],
} as const;
type Dialect = keyof typeof PATHS;

/** Calls through the gateway, and waits for the record. */
async function call(dialect: Dialect, body: object, asked: Asked, leave = false): Promise<void> {
  const gone = Promise.withResolvers<void>();
  vendor.answer({ ...asked, ...(leave && { waitsFor: gone.promise }) });
  calls += 1;
  const session = `call-${calls}`;
  const [path, rest] = PATHS[dialect];
  const left = new AbortController();
  const asking = fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { ...headers, "x-gateway-key": gateway.secret, "x-session-id": session },
    body: JSON.stringify({ ...rest, ...body }),
    signal: left.signal,
  });
  if (leave) {
    await (await asking).body?.getReader().read();
    left.abort();
    await gateway.caughtUp();
    gone.resolve();
  } else {
    // An answer that is cut may break off before its head is read.
    await asking.then((response) => response.text()).catch(() => "");
  }
  await gateway.records(session);
}

/** Records are of yesterday, whose bill is whole. */
const moveToYesterday = () =>
  gateway.sql`update requests set started_at = started_at - interval '1 day' where started_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

const window = () => `from=${yesterday()}&to=${yesterday()}`;

/** Reads the account; its parts add up, by Postgres's arithmetic. Parts of 0 are left out. */
async function parts(account: string) {
  const result = await gateway.admin<Reconciliation>("GET", `/reconciliation?account=${account}&${window()}`);
  const [one] = result.accounts;
  if (!one) throw new Error("no such account");
  for (const figures of [one, result.total]) {
    const values = RECONCILIATION_PARTS.map((part) => figures.parts[part]);
    const [sum] = await gateway.sql<{ adds: boolean }[]>`
      select sum(part::numeric) = ${figures.difference_usd}::numeric
        and ${figures.billed_usd}::numeric - ${figures.metered_usd}::numeric = ${figures.difference_usd}::numeric as adds
      from unnest(${values}::text[]) part`;
    expect(sum?.adds).toBe(true);
  }
  const [metered] = await gateway.sql<{ usd: string }[]>`
    select coalesce(sum(cost_usd), 0)::text as usd from requests
    where (started_at at time zone 'UTC')::date = ${yesterday()}::date and provider = ${providerOf(account)}`;
  expect(Number(one.metered_usd)).toBe(Number(metered?.usd));
  const named = Object.entries(one.parts).filter(([, usd]) => usd !== "0");
  return { one, parts: Object.fromEntries(named) as Partial<Record<string, string>> };
}
const providerOf = (account: string) => (account.includes("anthropic") ? "messages-vendor" : "chat-vendor");

const account = (name: string, body: object) => gateway.admin("PUT", `/vendor-accounts/${name}`, body);
const fetched = async (name: string) => {
  await moveToYesterday();
  return gateway.admin("POST", `/vendor-accounts/${name}/fetch`);
};
const reachable = { allow_private_network: true, keys: ["key_gateway"] };

const SONNET = { model: "claude-sonnet-4-5" };
const CLAUDE_INPUT = {
  uncached_input_tokens: 1203,
  cache_read_input_tokens: 5001,
  "cache_creation.ephemeral_5m_input_tokens": 307,
  "cache_creation.ephemeral_1h_input_tokens": 211,
  output_tokens: 499,
};
const GPT_INPUT = { input: 1011, "cached input": 512, output: 333 };

describe("Anthropic's invoice", () => {
  beforeAll(() =>
    account("anthropic", {
      vendor: "anthropic",
      credential: "sk-ant-admin-1",
      base_url: vendor.url,
      ...reachable,
    }),
  );

  test("is what was metered: plain, streamed, cached for 5 minutes and an hour, with tools and searches, and left", async () => {
    await call("messages", SONNET, { counts: { uncached_input_tokens: 10, output_tokens: 7 } });
    await call("messages", SONNET, { counts: CLAUDE_INPUT });
    await call("messages", { ...SONNET, stream: true }, { counts: CLAUDE_INPUT });
    await call(
      "messages",
      { ...SONNET, thinking: { type: "enabled", budget_tokens: 1024 } },
      { counts: CLAUDE_INPUT },
    );
    const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];
    await call("messages", { ...SONNET, tools }, { counts: CLAUDE_INPUT });
    const search = [{ type: "web_search_20250305", name: "web_search" }];
    await call("messages", { ...SONNET, tools: search }, { counts: { ...CLAUDE_INPUT, web_search: 3 } });
    await call("messages", { ...SONNET, stream: true }, { counts: CLAUDE_INPUT }, true);
    // The same in another dialect.
    await call("chat", SONNET, { counts: CLAUDE_INPUT });
    expect(await fetched("anthropic")).toMatchObject({ days: 62, to: yesterday() });
    const { one, parts: named } = await parts("anthropic");
    expect([named, one.days, Number(one.billed_usd) > 0.05]).toEqual([{}, 1, true]);
  });

  test("names what a cut answer used, what a batch costs less, and what the priority tier leaves out", async () => {
    await call("messages", SONNET, { counts: CLAUDE_INPUT, ending: "silent" });
    await fetched("anthropic");
    expect(Object.keys((await parts("anthropic")).parts)).toEqual(["seen_in_part"]);
    await call("messages", { ...SONNET, stream: true }, { counts: CLAUDE_INPUT, ending: "cut" });
    await fetched("anthropic");
    expect(Object.keys((await parts("anthropic")).parts)).toEqual(["seen_in_part"]);

    const made = await fetch(`${gateway.url}/v1/messages/batches`, {
      method: "POST",
      headers: { ...headers, "x-gateway-key": gateway.secret },
      body: JSON.stringify({
        requests: [{ custom_id: "a", params: { ...SONNET, max_tokens: 100, messages } }],
      }),
    });
    const { id } = (await made.json()) as { id: string };
    vendor.finishBatch(id, "anthropic");
    const poll = () =>
      fetch(`${gateway.url}/v1/messages/batches/${id}`, { headers: { "x-gateway-key": gateway.secret } });
    await until(async () => {
      await (await poll()).text();
      const rows = await gateway.sql`select 1 from requests where channel = 'batch'`;
      return rows.length === 1;
    });
    await fetched("anthropic");
    const batched = await parts("anthropic");
    expect(Object.keys(batched.parts)).toEqual(["seen_in_part", "tier"]);
    // 1,000 and 100 tokens at 3 and 15 dollars a million: half of it.
    expect(batched.parts["tier"]).toBe("-0.00225");

    await call("messages", SONNET, {
      counts: { uncached_input_tokens: 1000, output_tokens: 100 },
      tier: "priority",
    });
    await fetched("anthropic");
    const after = await parts("anthropic");
    expect(Object.keys(after.parts)).toEqual(["seen_in_part", "tier"]);
    expect(after.one.parts.unexplained).toBe("0");
  });

  test("names the keys of others, by key", async () => {
    vendor.answer({ counts: { uncached_input_tokens: 2000, output_tokens: 1000 } });
    await fetch(`${vendor.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": "another" },
      body: JSON.stringify({ ...SONNET, messages }),
    });
    await fetched("anthropic");
    const { one, parts: named } = await parts("anthropic");
    expect(named["unknown_keys"]).toBe("0.021");
    expect(one.unknown_keys).toEqual([{ key: "key_elsewhere", billed_usd: "0.021" }]);
    expect(one.parts.unexplained).toBe("0");
  });

  test("that cannot be read shows why with the account, and what was read stays", async () => {
    const before = (await parts("anthropic")).one;
    vendor.fail(403);
    const refused = await gateway.admin("POST", "/vendor-accounts/anthropic/fetch").catch(String);
    expect(refused).toContain("VendorFault 403");
    vendor.fail(null);
    const row = await gateway.admin<Record<string, unknown>>("GET", "/vendor-accounts/anthropic");
    expect(row).toMatchObject({
      failure: "VendorFault 403",
      has_credential: true,
      next_attempt_at: expect.any(String),
    });
    expect((await parts("anthropic")).one).toEqual(before);
    expect(await fetched("anthropic")).toMatchObject({ days: 5 });
    expect(await gateway.admin("GET", "/vendor-accounts/anthropic")).toMatchObject({ failure: null });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=vendor_bill.read&limit=1");
    expect(data).toEqual([
      expect.objectContaining({ subject: "anthropic", after: expect.objectContaining({ days: 5 }) }),
    ]);
  });
});

describe("OpenAI's invoice", () => {
  beforeAll(() =>
    account("openai", { vendor: "openai", credential: "sk-admin-1", base_url: vendor.url, ...reachable }),
  );

  test("is what was metered: plain, streamed, cached, reasoning, tiers, searches, images, sound and embeddings", async () => {
    await call("chat", { model: "gpt-4o" }, { counts: GPT_INPUT });
    await call("chat", { model: "gpt-4o", stream: true }, { counts: GPT_INPUT });
    await call("chat", { model: "gpt-4o", stream: true }, { counts: GPT_INPUT }, true);
    await call("chat", { model: "gpt-5.4" }, { counts: GPT_INPUT });
    await call("chat", { model: "gpt-5.4", service_tier: "flex" }, { counts: GPT_INPUT, tier: "flex" });
    await call(
      "chat",
      { model: "gpt-5.4", service_tier: "priority" },
      { counts: GPT_INPUT, tier: "priority" },
    );
    const tools = [{ type: "web_search" }];
    await call(
      "responses",
      { model: "gpt-5.4", tools },
      { counts: { ...GPT_INPUT, "web search tool calls": 2 } },
    );
    await call("embeddings", { model: "text-embedding-3-small" }, { counts: { input: 77 } });
    await call("images", { model: "gpt-image-1.5" }, { counts: { input: 80, "image output": 1200 } });
    const sound = { input: 10, "audio input": 90, output: 20, "audio output": 180 };
    await call("chat", { model: "gpt-audio", modalities: ["text", "audio"] }, { counts: sound });
    await call("messages", { model: "gpt-4o" }, { counts: GPT_INPUT });
    await fetched("openai");
    const { one, parts: named } = await parts("openai");
    expect([named, Number(one.billed_usd) > 0.05]).toEqual([{}, true]);
  });

  test("names what a batch costs less", async () => {
    const key = { "x-gateway-key": gateway.secret };
    const line = {
      custom_id: "a",
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "gpt-4o", messages },
    };
    const form = new FormData();
    form.append("purpose", "batch");
    form.append("file", new File([`${JSON.stringify(line)}\n`], "lines.jsonl"));
    const sent = (path: string, init: RequestInit) =>
      fetch(`${gateway.url}${path}`, init).then((response) => response.json() as Promise<{ id: string }>);
    const file = await sent("/v1/files", { method: "POST", headers: key, body: form });
    const asked = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    const { id } = await sent("/v1/batches", {
      ...{ method: "POST", headers: { ...headers, ...key }, body: JSON.stringify(asked) },
    });
    vendor.finishBatch(id, "openai");
    await until(async () => {
      await sent(`/v1/batches/${id}`, { headers: key });
      const rows =
        await gateway.sql`select 1 from requests where channel = 'batch' and provider = 'chat-vendor'`;
      return rows.length === 1;
    });
    await fetched("openai");
    // 1,000 and 100 tokens at 2.5 and 10 dollars a million: half of it.
    expect((await parts("openai")).parts).toEqual({ tier: "-0.00175" });
  });

  test("names a price that a contract changes, and a model without one", async () => {
    const price = await gateway.admin<{ id: string }>("POST", "/prices", {
      provider: "chat-vendor",
      model: "text-embedding-3-small",
      effective_from: "2026-01-01",
      input: "0.01",
    });
    await call("embeddings", { model: "text-embedding-3-small" }, { counts: { input: 1_000_000 } });
    await gateway.admin("DELETE", `/prices/${price.id}`);
    await gateway.sql`update requests set unpriced = true, cost_usd = null, price = null
      where model = 'gpt-audio'`;
    await fetched("openai");
    const { one, parts: named } = await parts("openai");
    expect(named["price_contract"]).toBe("0.01");
    expect(Object.keys(named)).toEqual(["unpriced", "price_contract", "tier"]);
    expect(one.parts.unexplained).toBe("0");
  });

  test("names what no one here asked for as unexplained", async () => {
    vendor.answer({ counts: { input: 1_000_000 } });
    await fetch(`${vendor.url}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: "Bearer vendor-credential" },
      body: JSON.stringify({ model: "text-embedding-3-small" }),
    });
    await fetched("openai");
    expect((await parts("openai")).one.parts.unexplained).toBe("0.02");
  });
});

describe("a bill and a commitment in reports", () => {
  type Figures = Record<string, number | null>;
  const query = async (dimensions: string[], measures: string[], day = yesterday()) => {
    const spec = { source: "requests", dimensions, measures, filters: {}, compare: "none", view: "table" };
    const response = await fetch(`${gateway.url}/v1/reports/query`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify({ spec: { ...spec, range: { from: day, to: day } } }),
    });
    const result = (await response.json()) as {
      total: { current: Figures; floor: boolean };
      rows: { groups: string[]; current: Figures }[];
    };
    if (response.status !== 200) throw new Error(JSON.stringify(result) + gateway.log());
    return {
      ...result,
      of: (name: string) => result.rows.find(({ groups }) => groups[0] === name)?.current ?? {},
    };
  };

  test("the billed cost is the bill without the keys of others, by any dimension; without a bill it is not known", async () => {
    const { one } = await parts("anthropic");
    const billed = Number(one.billed_usd) - Number(one.parts.unknown_keys);
    const byProvider = await query(["provider"], ["cost_usd", "billed_cost_usd"]);
    expect(byProvider.of("messages-vendor")["billed_cost_usd"]).toBeCloseTo(billed, 12);
    const byModel = await query(["model", "key"], ["billed_cost_usd"]);
    const sum = byModel.rows.reduce((all, { current }) => all + (current["billed_cost_usd"] ?? 0), 0);
    expect(sum).toBeCloseTo(byModel.total.current["billed_cost_usd"] ?? 0, 12);
    const before = new Date(Date.now() - 5 * DAY_MS).toISOString().slice(0, 10);
    await gateway.sql`update requests set started_at = ${`${before}T12:00:00Z`} where model = 'gpt-image-1.5'`;
    await gateway.sql`delete from vendor_bill_days where day = ${before}`;
    const without = await query(["provider"], ["cost_usd", "billed_cost_usd"], before);
    expect(without.total).toMatchObject({ floor: true, current: { billed_cost_usd: null } });
    await gateway.sql`update requests set started_at = ${`${yesterday()}T12:00:00Z`} where model = 'gpt-image-1.5'`;
  });

  test("the effective cost is what was paid for what a commitment or a credit covers", async () => {
    const before = await query(["provider"], ["cost_usd", "effective_cost_usd"]);
    const claude = before.of("messages-vendor")["cost_usd"] ?? 0;
    expect(before.of("messages-vendor")["effective_cost_usd"]).toBe(claude);
    const window = { effective_from: yesterday(), effective_to: new Date().toISOString().slice(0, 10) };
    const { id } = await gateway.admin<{ id: string }>("POST", "/commitments", {
      ...{
        name: "ptu",
        kind: "commitment",
        provider: "messages-vendor",
        models: ["claude-*"],
        amount_usd: "12",
      },
      ...window,
    });
    const covered = await query(["provider"], ["effective_cost_usd"]);
    expect(covered.of("messages-vendor")["effective_cost_usd"]).toBeCloseTo(12, 12);
    expect(covered.of("chat-vendor")).toEqual({
      effective_cost_usd: before.of("chat-vendor")["effective_cost_usd"] ?? 0,
    });
    await gateway.admin("DELETE", `/commitments/${id}`);
    await gateway.admin("POST", "/commitments", {
      ...{
        name: "prepaid",
        kind: "credit",
        provider: "messages-vendor",
        amount_usd: String(claude / 4),
        worth_usd: String(claude / 2),
      },
      ...window,
    });
    // Half of it is covered, at half its cost.
    const half = await query(["provider"], ["effective_cost_usd"]);
    expect(half.of("messages-vendor")["effective_cost_usd"]).toBeCloseTo(claude * 0.75, 9);
  });
});

describe("an imported invoice", () => {
  const importBill = async (name: string, rows: object[]) => {
    const response = await fetch(`${gateway.url}/admin/v1/vendor-bills/import?account=${name}&format=focus`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify(rows),
    });
    expect(response.status).toBe(200);
  };
  const row = (day: string, amount: number | string, more: object = {}) => ({
    ChargePeriodStart: `${day}T00:00:00Z`,
    BilledCost: amount,
    BillingCurrency: "USD",
    ChargeCategory: "Usage",
    ...more,
  });

  test("with a credit, taxes, a revised day and another currency has nothing unexplained", async () => {
    await account("anthropic-focus", { vendor: "anthropic" });
    const { one: fetchedBill } = await parts("anthropic");
    const use = (amount: string, more: object = {}) =>
      row(yesterday(), amount, { x_Model: "claude-sonnet-4-5", ...more });
    await importBill("anthropic-focus", [use("99")]);
    await importBill("anthropic-focus", [
      use(fetchedBill.metered_usd),
      row(yesterday(), "-5", { ChargeCategory: "Credit", ChargeDescription: "Promotion" }),
      row(yesterday(), "1.25", { ChargeCategory: "Tax", ChargeDescription: "VAT" }),
    ]);
    expect((await parts("anthropic-focus")).parts).toEqual({ taxes_and_credits: "-3.75" });

    await importBill("anthropic-focus", [use("0.05", { BillingCurrency: "EUR" })]);
    const { one, parts: named } = await parts("anthropic-focus");
    expect(Object.keys(named)).toEqual(["currency"]);
    expect([one.unconverted, one.billed_usd]).toEqual([{ EUR: "0.05" }, "0"]);
  });

  test("whose days begin elsewhere is compared with those days", async () => {
    await gateway.sql`update requests set started_at = date_trunc('day', started_at) + interval '3 hours'
      where model = 'gpt-5.4' and started_at < date_trunc('day', now())`;
    await account("openai-pacific", { vendor: "openai", time_zone: "America/Los_Angeles" });
    const before = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    const [there] = await gateway.sql<{ model: string; usd: string }[]>`
      select 'total' as model, sum(cost_usd)::text as usd from requests where provider = 'chat-vendor'
        and (started_at at time zone 'America/Los_Angeles')::date = ${yesterday()}::date`;
    const [earlier] = await gateway.sql<{ usd: string }[]>`
      select coalesce(sum(cost_usd), 0)::text as usd from requests where provider = 'chat-vendor'
        and (started_at at time zone 'America/Los_Angeles')::date = ${before}::date`;
    expect(Number(earlier?.usd)).toBeGreaterThan(0);
    await importBill("openai-pacific", [
      { ...row(yesterday(), there?.usd ?? "0"), ChargePeriodStart: `${yesterday()}T12:00:00Z` },
    ]);
    expect(Object.keys((await parts("openai-pacific")).parts)).toEqual(["clock"]);
  });
});
