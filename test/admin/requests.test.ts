import { beforeAll, describe, expect, test } from "bun:test";
import { priceText } from "#drizzle/price-text.ts";
import { requests } from "#drizzle/schema/records.ts";
import { recordAt } from "./records.ts";
import { type World, world } from "./world.ts";

let it: World;
let keyId: string;

const PRICED = {
  provider: "anthropic",
  model: "claude",
  providerRequestId: "req_011",
  session: "run-7",
  client: "claude-code",
  owner: "ada",
  userLabel: "bob",
  tags: ["ci", "nightly"],
  inputTokens: 1200,
  uncachedInputTokens: 200,
  cacheReadTokens: 1000,
  cacheWrite5mTokens: 0,
  outputTokens: 50,
  costUsd: "0.00165",
  tokenCostUsd: "0.00165",
  price: priceText({
    entry: "list:anthropic/claude",
    rows: [
      { unit: "input", count: 200, usdPerUnit: "0.000003" },
      { unit: "cache_read", count: 1000, usdPerUnit: "0.0000003" },
      { unit: "output", count: 50, usdPerUnit: "0.000015" },
    ],
  }),
};

const rows = [
  recordAt("2026-11-01T10:00:00.000Z", { route: "oldest" }),
  recordAt("2026-11-02T10:00:00.000Z", PRICED),
  recordAt("2026-11-03T10:00:00.000Z", {
    state: "denied",
    status: 403,
    errorType: "guardrail_blocked",
    costUsd: "0",
  }),
  recordAt("2026-11-04T10:00:00.000Z", { provider: "own", model: "new", unpriced: true }),
  recordAt("2026-11-05T10:00:00.000Z", {
    state: "interrupted",
    unpriced: true,
    partial: true,
    usageSource: "none",
  }),
  recordAt("2026-11-06T10:00:00.000Z", {
    ...PRICED,
    session: "run-8",
    usageSource: "partial",
    partial: true,
    channel: "subscription",
  }),
];

beforeAll(async () => {
  it = await world();
  keyId = (await it.call("GET", "/keys")).body.data[0].id;
  await it.database.db
    .insert(requests)
    .values(rows.map((row, index) => (index === 1 ? { ...row, keyId } : row)));
});
const ids = async (query: string) =>
  (await it.call("GET", `/requests${query}`)).body.data.map((row: { id: string }) =>
    rows.findIndex(({ id }) => id === row.id),
  );

describe("the list of records", () => {
  test("is newest first, and its pages follow each other", async () => {
    expect(await ids("")).toEqual([5, 4, 3, 2, 1, 0]);
    const first = (await it.call("GET", "/requests?limit=4")).body;
    expect(first.has_more).toBe(true);
    expect(await ids(`?limit=4&after=${first.next}`)).toEqual([1, 0]);
  });

  test.each([
    ["?provider_request_id=req_011", [5, 1]],
    ["?session=run-7", [1]],
    ["?session=run-7&client=curl", []],
    ["?client=claude-code", [5, 1]],
    ["?route=oldest", [0]],
    ["?model=new", [3]],
    ["?provider=own", [3]],
    ["?state=denied", [2]],
    ["?surface=chat.%2A&state=denied", [2]],
    ["?surface=messages&state=denied", []],
    ["?status=403", [2]],
    ["?error_type=guardrail_blocked", [2]],
    ["?tag=nightly", [5, 1]],
    ["?tag=night", []],
    ["?tag=ci&status=200&session=run-7", [1]],
    ["?channel=subscription", [5]],
    ["?owner=ada&user=bob", [5, 1]],
    ["?owner=Ada&user=bob", [5, 1]],
    ["?owner=AD*&user=bob", [5, 1]],
    ["?key=first", [1]],
    ["?from=2026-11-02T10:00:00Z&to=2026-11-04T10:00:00Z", [2, 1]],
    ["?from=2026-11-04&to=2026-11-05", [4, 3]],
    ["?session=%27%3B--", []],
    ["?unpriced=true", [4, 3]],
    ["?unpriced=false&partial=true", [5]],
    ["?partial=true", [5, 4]],
    ["?partial=false&unpriced=false", [2, 1, 0]],
    ["?cost_basis=list", [5, 1]],
    ["?cost_basis=vendor", []],
    ["?service_tier=priority", []],
    ["?session=run-%2A", [5, 1]],
    ["?session=%25%2A", []],
  ])("%p narrows it", async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  test("a basis and a tier narrow it to the records that have them", async () => {
    const facts = { session: "run-9", costBasis: "vendor", serviceTier: "priority", costUsd: "1" } as const;
    const record = recordAt("2026-10-01T10:00:00.000Z", facts);
    await it.database.db.insert(requests).values([record]);
    for (const filter of ["cost_basis=vendor", "service_tier=priority"]) {
      const { data } = (await it.call("GET", `/requests?${filter}`)).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([record.id]);
    }
    await it.database.sql`delete from requests where session = 'run-9'`;
  });

  test("a key may be named by its id", async () => {
    expect(await ids(`?key=${keyId}`)).toEqual([1]);
  });

  test.each([
    "/requests?sessions=x",
    "/requests?from=yesterday",
    "/requests?to=2026-13-01",
    "/requests?after=7",
    "/requests?status=ok",
    "/requests?state=failed",
    "/requests?channel=mail",
    "/requests?surface=zz",
    "/requests?unpriced=yes",
    "/requests?partial=1",
    "/requests?cost_basis=free",
    "/tool-calls?status=zzz",
    "/tool-calls?channel=api",
  ])("%p is refused by the parameter's name, not answered with an empty list", async (address) => {
    const answer = await it.call("GET", address);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toStartWith(`${/\?(\w+)/.exec(address)?.[1]}: `);
  });

  test("a value that Postgres cannot hold is refused, not a failure", async () => {
    expect((await it.call("GET", "/requests?session=a%00b")).status).toBe(400);
  });
});

describe("a record's own page", () => {
  const cost = async (index: number) => (await it.call("GET", `/requests/${rows[index]?.id}`)).body.cost;

  test("shows every figure, and the lines that its cost is the sum of", async () => {
    const { body } = await it.call("GET", `/requests/${rows[1]?.id}`);
    expect(body).toMatchObject({
      id: rows[1]?.id,
      started_at: "2026-11-02T10:00:00.000Z",
      key_id: keyId,
      key_name: "first",
      user_label: "bob",
      tags: ["ci", "nightly"],
      uncached_input_tokens: 200,
      cache_read_tokens: 1000,
      cache_write_5m_tokens: 0,
      cache_write_1h_tokens: null,
      provider_request_id: "req_011",
      cost_usd: "0.00165",
      unpriced: false,
    });
    expect(body.cost).toEqual({
      versions: [],
      reason:
        "The cost is the sum of the rows: the provider's own counts, times the prices of anthropic/claude in the price list.",
      entry: "list:anthropic/claude",
      repriced_at: null,
      usage_source: "provider",
      savings_usd: null,
      rows: [
        { unit: "input", count: 200, usd_per_unit: "0.000003", usd: "0.0006" },
        { unit: "cache_read", count: 1000, usd_per_unit: "0.0000003", usd: "0.0003" },
        { unit: "output", count: 50, usd_per_unit: "0.000015", usd: "0.00075" },
      ],
    });
    expect(Object.keys(body)).not.toContain("org_id");
  });

  test("says of each record why it costs what it costs", async () => {
    expect((await cost(2)).reason).toStartWith("Nothing was charged");
    expect((await cost(3)).reason).toContain("No price is known for new of own");
    expect((await cost(4)).reason).toContain("The gateway stopped before the answer ended");
    expect((await cost(5)).reason).toContain("lower bound");
    expect((await cost(5)).reason).toContain("a subscription paid for the call");
  });

  test.each(["nothing", "00000000-0000-7000-8000-000000000000"])("%p is no record", async (id) => {
    expect((await it.call("GET", `/requests/${id}`)).status).toBe(404);
  });
});
