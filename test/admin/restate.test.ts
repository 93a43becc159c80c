import { beforeAll, expect, test } from "bun:test";
import { batches } from "#drizzle/schema/batches.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { requests } from "#drizzle/schema/records.ts";
import type { MeasureName, Spec } from "#shared/report.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { seed } from "../reports/world.ts";
import { reportEngines } from "../support/report-engines.ts";
import { recordAt } from "./records.ts";
import { ADMIN_KEY, fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
  await it.call("POST", "/prices", { model: "m", effective_from: "2026-01-01", input: "1", output: "2" });
});

const OLD = "input 1000 0.000001|output 500 0.000002|list:echo/m";
const call = (startedAt: string, facts: Partial<RequestRow> = {}): RequestRow =>
  recordAt(startedAt, {
    ...{
      provider: "echo",
      model: "m",
      usageSource: "provider",
      uncachedInputTokens: 1000,
      inputTokens: 1000,
    },
    ...{ outputTokens: 500, costUsd: "0.002", tokenCostUsd: "0.002", price: OLD, teams: ["alpha"] },
    ...facts,
  });
const store = (...rows: RequestRow[]) => it.database.db.insert(requests).values(rows);
const restate = async (body: object) => (await it.call("POST", "/prices/restate", body)).body;
const record = async ({ id }: RequestRow) => (await it.call("GET", `/requests/${id}`)).body;

test("a wrong price of the past is corrected: first what would change, then with every version kept", async () => {
  const rows = [
    call("2026-05-10T12:00:00.000Z"),
    call("2026-06-10T12:00:00.000Z"),
    call("2026-06-11T12:00:00.000Z", {
      teams: null,
      outputTokens: 250,
      costUsd: "0.0015",
      tokenCostUsd: "0.0015",
    }),
  ];
  const told = call("2026-06-12T12:00:00.000Z", {
    costBasis: "vendor",
    costUsd: "0.05",
    listCostUsd: "0.002",
  });
  const other = call("2026-06-12T12:00:00.000Z", { model: "other" });
  const batch = call("2026-06-13T12:00:00.000Z", {
    ...{ channel: "batch", costBasis: "interactive", price: `${OLD}, list:echo/n` },
  });
  await store(...rows, told, other, batch);
  await it.call("POST", "/prices", { model: "m", effective_from: "2026-06-01", input: "3", output: "4" });

  const asked = { from: "2026-05-01", to: "2026-06-30", provider: "echo", model: "m" };
  const changes = {
    ...{ records: 5, checked_records: 5, left_records: 1, state: "done", provider: "echo", model: "m" },
    old_cost_usd: "0.0575",
    closed_months: [],
    differences: [
      {
        ...{ month: "2026-06", team: "alpha", model: "m", records: 2 },
        ...{ old_cost_usd: "0.052", new_cost_usd: "0.055", difference_usd: "0.003" },
      },
      {
        ...{ month: "2026-06", team: null, model: "m", records: 1 },
        ...{ old_cost_usd: "0.0015", new_cost_usd: "0.004", difference_usd: "0.0025" },
      },
      {
        ...{ month: "2026-05", team: "alpha", model: "m", records: 1 },
        ...{ old_cost_usd: "0.002", new_cost_usd: "0.002", difference_usd: "0" },
      },
    ],
    ...{ restated_records: 4, new_cost_usd: "0.063", difference_usd: "0.0055" },
  };
  expect(await restate({ ...asked, dry_run: true })).toMatchObject({ dry_run: true, ...changes });
  expect(await record(rows[1]!)).toMatchObject({ cost_usd: "0.002" });

  const job = await restate(asked);
  expect(job).toMatchObject({ dry_run: false, ...changes });
  expect((await it.call("GET", `/prices/restate/${job.id}`)).body).toEqual(job);
  const { differences: _, ...listed } = job;
  expect((await it.call("GET", "/prices/restate?limit=1")).body.data).toEqual([listed]);
  expect((await it.call("GET", "/prices/reprice")).body.data).toEqual([]);
  expect(await record(rows[1]!)).toMatchObject({
    cost_usd: "0.005",
    cost_basis: "contract",
    cost: {
      versions: [
        {
          ...{ cost_usd: "0.002", cost_basis: null, entry: "list:echo/m", until: expect.any(String) },
          ...{ actor: "admin key", reason: "restated" },
        },
      ],
    },
  });
  expect(await record(told)).toMatchObject({ cost_usd: "0.05", cost_basis: "vendor", list_cost_usd: null });
  expect(await record(other)).toMatchObject({ cost_usd: "0.002", cost: { versions: [] } });
  expect(await record(batch)).toMatchObject({ cost_usd: "0.002" });
  const [entry] = (await it.call("GET", "/audit?limit=1")).body.data;
  expect(entry).toMatchObject({
    action: "prices.restated",
    after: { cost_usd: "0.063", repriced_records: 4 },
  });

  expect(await restate(asked)).toMatchObject({ restated_records: 0, difference_usd: "0", differences: [] });
});

test("a batch is priced by the sum of its counts, and sound by the price of an hour", async () => {
  await it.call("PUT", "/providers/anthropic", { kind: "anthropic", credential: "sk-test" });
  await it.call("PUT", "/providers/groq", { kind: "groq", credential: "sk-test" });
  const batch = (at: string, facts: Partial<RequestRow>) =>
    call(at, {
      ...{ provider: "anthropic", model: "claude-haiku-4-5", channel: "batch", costBasis: "interactive" },
      ...{ costUsd: "0.002", discountedCostUsd: "0.001", price: OLD.replace("echo/m", "anthropic/x") },
      ...facts,
    });
  // Haiku 4.5: 1 and 5 USD per million tokens, half of that in batches, a tenth more within the US.
  const rows = [
    batch("2026-02-01T12:00:00.000Z", {}),
    batch("2026-02-02T12:00:00.000Z", { costBasis: "batch" }),
    batch("2026-02-03T12:00:00.000Z", { price: "input 1000 0.000001|list:anthropic/x (US)" }),
    batch("2026-02-04T12:00:00.000Z", { price: `${OLD}, list:echo/n` }),
    batch("2026-02-05T12:00:00.000Z", {
      unpriced: true,
      costUsd: null,
      discountedCostUsd: null,
      price: null,
    }),
    // 90 seconds at 0.20 an hour; then a record without the price of its hour.
    ...["hour 0.20|", ""].map((hour) =>
      call("2026-02-06T12:00:00.000Z", {
        ...{ provider: "groq", model: "whisper-large-v3", surface: "audio.transcriptions", ...NO_USAGE },
        ...{ inputTokens: null, costUsd: "0.005", price: `audio 1 0.005|${hour}list:groq/whisper-large-v3` },
      }),
    ),
  ];
  await store(...rows);
  await it.database.db.insert(batches).values({
    ...{ id: "b1", kind: "messages", keyId: rows[0]!.keyId, provider: "anthropic", endpoint: "/v1/messages" },
    ...{ completionWindow: "24h", status: "ended", facts: {}, createdAt: rows[0]!.startedAt, routes: [] },
    ...{
      recordId: rows[0]!.id,
      startedAt: rows[0]!.startedAt,
      models: ["claude-haiku-4-5"],
      client: "x",
      tags: [],
    },
    ...{ costUsd: "0.002", costBasis: "interactive", nextCheckAt: rows[0]!.startedAt },
  });
  expect(await restate({ from: "2026-02-01", to: "2026-02-28" })).toMatchObject({
    ...{ records: 7, restated_records: 5, left_records: 2, new_cost_usd: "0.022375", old_cost_usd: "0.018" },
  });
  const costs = await Promise.all(rows.map(record));
  expect(costs.map((it) => [it.cost_usd, it.cost_basis, it.list_cost_usd, it.discounted_cost_usd])).toEqual([
    ["0.0035", "interactive", null, "0.00175"],
    ["0.00175", "batch", "0.0035", "0.00175"],
    ["0.00385", "interactive", null, "0.001925"],
    ["0.002", "interactive", null, "0.001"],
    ["0.0035", "interactive", null, "0.00175"],
    ["0.002775", "list", null, null],
    ["0.005", "list", null, null],
  ]);
  const [stored] = await it.database.db.select().from(batches);
  expect(stored).toMatchObject({ costUsd: "0.0035", discountedCostUsd: "0.00175", costBasis: "interactive" });
  expect(await restate({ from: "2026-02-01", to: "2026-02-28" })).toMatchObject({ restated_records: 0 });
});

test("a price that is deleted makes its records unpriced, and their cost can be asked for still", async () => {
  const { id } = (
    await it.call("POST", "/prices", { model: "gone", effective_from: "2026-01-01", input: "1", output: "1" })
  ).body;
  const row = call("2026-03-03T03:00:00.000Z", {
    model: "gone",
    costUsd: null,
    tokenCostUsd: null,
    price: null,
    unpriced: true,
  });
  await store(row);
  const asked = { from: "2026-03-03", to: "2026-03-03" };
  expect(await restate(asked)).toMatchObject({ old_cost_usd: "0", new_cost_usd: "0.0015" });
  await it.call("DELETE", `/prices/${id}`);
  expect(await restate(asked)).toMatchObject({ new_cost_usd: "0", difference_usd: "-0.0015" });
  expect(await record(row)).toMatchObject({
    ...{ unpriced: true, cost_usd: null },
    cost: { versions: [{ cost_usd: null }, { cost_usd: "0.0015", reason: "restated" }] },
  });
});

test("a closed month does not move until it is reopened; records that come late are stored once and counted", async () => {
  const july = call("2026-07-05T12:00:00.000Z", { costUsd: "7" });
  const august = call("2026-08-05T12:00:00.000Z", { costUsd: "8" });
  await store(july, august, call("2026-07-06T12:00:00.000Z", { channel: "subscription" }));
  const close = (month: string) => it.call("POST", "/periods/close", { month });
  const closed = (await close("2026-07")).body;
  expect(closed).toMatchObject({
    month: "2026-07",
    state: "closed",
    records: 2,
    cost_usd: "7",
    late_records: 0,
  });
  expect(await fault(close("2026-07"))).toBe("422 /month: 2026-07 is closed.");
  expect(await fault(close("2099-01"))).toBe("422 /month: 2099-01 has not begun.");
  expect(await fault(close("2026-7"))).toStartWith("400 /month");

  const both = { from: "2026-07-01", to: "2026-08-31" };
  expect(await restate(both)).toMatchObject({ records: 1, restated_records: 1, closed_months: ["2026-07"] });
  expect(await record(july)).toMatchObject({ cost_usd: "7" });
  const july31 = { from: "2026-07-31", to: "2026-07-31" };
  for (const kind of ["restate", "reprice"]) {
    expect(await fault(it.call("POST", `/prices/${kind}`, july31))).toStartWith(
      "409 All these months are closed",
    );
  }

  const late = call("2026-07-07T12:00:00.000Z", { costUsd: "0.25" });
  await store(late);
  await it.database.db.insert(requests).values(late).onConflictDoNothing();
  expect((await it.call("GET", "/periods")).body.data).toEqual([
    { ...closed, late_records: 1, late_cost_usd: "0.25" },
  ]);
  const { body } = await it.call("POST", "/periods/reopen", { month: "2026-07" });
  expect(body).toMatchObject({ state: "open", closed_at: null, late_records: 1 });
  expect(await fault(it.call("POST", "/periods/reopen", { month: "2026-07" }))).toStartWith("422");
  expect(await restate(both)).toMatchObject({ restated_records: 3, closed_months: [] });
  expect(await record(july)).toMatchObject({ cost_usd: "0.005" });
});

test("on both engines, reports give the latest costs, or, as of an instant, those that were known then", async () => {
  const { sql } = it.database;
  const engines = await reportEngines(it.url);
  const runner = engines.runner();
  const cost = async (
    asOf?: Date,
    source: Spec["source"] = "requests",
    measure: MeasureName = "cost_usd",
  ) => {
    const range = { from: "2026-04-01", to: "2026-04-30" };
    const spec: Spec = {
      source,
      range,
      dimensions: [],
      measures: [measure],
      filters: {},
      compare: "none",
      view: "table",
    };
    if (!asOf) await engines.wrote("default");
    const { total } = await runner.run(spec, new Date(), { asOfMs: asOf?.getTime() });
    return total.current?.[measure];
  };
  const now = async () => {
    const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at, pg_sleep(0.002)`;
    return row?.at ?? new Date();
  };
  await store(
    call("2026-04-10T12:00:00.000Z", { costUsd: "1", session: "s-1" }),
    call("2026-04-11T12:00:00.000Z"),
  );
  const merge = { repository: 1, number: 1, mergedAt: "2026-04-12", link: "joined", session: "s-1" };
  await seed(sql, "default", { repositories: [{ id: 1, fullName: "acme/shop" }], pullRequests: [merge] });
  const first = await now();
  await restate({ from: "2026-04-01", to: "2026-04-30" });
  const second = await now();
  await it.call("POST", "/prices", { model: "m", effective_from: "2026-04-01", input: "5", output: "0" });
  await restate({ from: "2026-04-01", to: "2026-04-30" });
  await it.call("POST", "/periods/close", { month: "2026-04" });
  await store(call("2026-04-13T12:00:00.000Z", { costUsd: "9" }));
  expect([await cost(), await cost(await now())]).toEqual([9.01, 9.01]);
  expect([await cost(first), await cost(second), await cost(new Date("2026-04-11"))]).toEqual([
    1.002, 0.004, 1,
  ]);
  expect([await cost(undefined, "outcomes"), await cost(first, "outcomes")]).toEqual([0.005, 1]);
  // A bill and a commitment are what they are, whatever their calls were thought to cost.
  await it.call("POST", "/vendor-accounts", { name: "echo", vendor: "other", providers: ["echo"] });
  const mapping = encodeURIComponent('{"day":"Day","amount":"Cost"}');
  await it.raw(`/vendor-bills/import?account=echo&mapping=${mapping}`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: "Day,Cost\n2026-04-10,8\n2026-04-11,1\n2026-04-13,0\n",
  });
  await it.call("POST", "/commitments", {
    ...{ name: "m", kind: "commitment", provider: "echo", amount_usd: "3" },
    ...{ effective_from: "2026-04-01", effective_to: "2026-05-01" },
  });
  for (const [measure, usd] of [
    ["billed_cost_usd", 9],
    ["effective_cost_usd", 3],
  ] as const)
    for (const asOf of [undefined, first]) expect(await cost(asOf, "requests", measure)).toBeCloseTo(usd, 12);
  await runner.close();
});

test.each([
  [{ from: "2026-10-02", to: "2026-10-01" }, "400 /to: Expected a time after /from"],
  [{ from: "2026-10-02", to: "2026-10-02", model: "" }, "400 /model"],
  [{ from: "2026-10-02", to: "2026-10-02", team: "x" }, "400 /team: Unexpected property"],
])("a body that is wrong is refused: %p", async (body, message) => {
  expect(await fault(it.call("POST", "/prices/restate", body))).toStartWith(message);
});
