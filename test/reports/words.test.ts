import { beforeAll, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { newId } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type Engines, reportEngines } from "#test/support/report-engines.ts";
import { keyId, seed } from "./world.ts";

// The words of queries, worked out by hand; naive.ts has them over random records.

const NOW = new Date("2026-11-21T12:00:00Z");
const PRICE =
  "input 100 0.000003|cache_read 900 0.0000003|cache_write_5m 40 0.00000375|output 5 0.000015|list:m";
let database: TestDatabase;
let engines: Engines;
let runner: ReportRunner;

beforeAll(async () => {
  database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const openai = { provider: "openai", tier: "priority", owner: "ann" };
  await seed(sql, "default", {
    requests: [
      // Saved 900 × 2.7e-6 − 40 × 0.75e-6 by the cache, and 0.2 by contract.
      {
        ...{ at: "2026-11-20T09:00:00Z", ...openai, latencyMs: 100, ttftMs: 10, reasoning: 3, written: 40 },
        ...{ cached: 900, cost: "0.8", basis: "contract", listCost: "1", price: PRICE },
      },
      { at: "2026-11-20T23:30:00Z", ...openai, latencyMs: 300, ttftMs: 30, cost: "2", error: "ignored" },
      // Its provider told the cost, and the list has no price: its list cost is unknown.
      { at: "2026-08-02T09:10:00Z", provider: "openrouter", latencyMs: 500, cost: "4", basis: "vendor" },
      {
        at: "2026-08-02T09:10:00Z",
        surface: "messages",
        state: "denied",
        error: "budget_exceeded",
        cost: "0",
      },
    ],
  });
  await sql`insert into agent_points ${sql(
    [
      { kind: "reasoning", tokens: 7, provider: "openai", system: null, error_type: null },
      { kind: "cache_write", tokens: 11, provider: null, system: "anthropic", error_type: "timeout" },
    ].map((point, i) => ({
      ...{
        ...point,
        hash: Buffer.from([i]),
        key_id: keyId("a"),
        client: "cli",
        metric: "m",
        unpriced: false,
      },
      ...{ ended_at: "2026-11-20T09:00:00Z", received_at: "2026-11-20T09:00:00Z" },
    })),
  )}`;
  await sql.end();
  engines = await reportEngines(database.url);
  await engines.wrote("default");
  runner = engines.runner();
});

const specOf = (over: Partial<Spec>): Spec =>
  checkSpec({
    ...{ source: "requests", dimensions: [], measures: ["requests"], filters: {} },
    ...{ range: { from: "2026-07-01", to: null }, compare: "none", view: "table", ...over },
  });

async function rows(over: Partial<Spec>, timeZone = "UTC") {
  const { rows, total } = await runner.run(specOf(over), NOW, { timeZone });
  return [...rows, total].map(({ groups, current, floor }) => [
    groups.join(" | "),
    ...Object.values(current ?? {}),
    floor,
  ]);
}

test("list cost, and what contract and cache saved, are lower bounds where a call's are unknown", async () => {
  expect(
    await rows({
      dimensions: ["provider"],
      measures: ["list_cost_usd", "savings_usd", "savings_cache_usd", "cost_usd"],
    }),
  ).toEqual([
    ["openai", 3, 0.2, 0.0024, 2.8, false],
    ["(none)", 0, 0, 0, 0, false],
    ["openrouter", null, null, 0, 4, true],
    ["", 3, 0.2, 0.0024, 6.8, true],
  ]);
});

test("a report asked beside one of list costs is no lower bound for it", async () => {
  const asked = (measure: "list_cost_usd" | "cost_usd") => ({
    spec: specOf({ dimensions: ["surface"], measures: [measure] }),
  });
  const answers = await runner.runAll([asked("list_cost_usd"), asked("cost_usd"), asked("cost_usd")], NOW);
  expect(answers.map(({ total }) => [Number(Object.values(total.current ?? {})[0]), total.floor])).toEqual([
    [3, true],
    [6.8, false],
    [6.8, false],
  ]);
});

test("billed and effective cost are spread over calls by their cost, and known where there is a bill", async () => {
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const at = "2026-01-01T00:00:00Z";
  const account = {
    allow_private_network: false,
    enabled: false,
    models: {},
    rates: {},
    created_at: at,
    updated_at: at,
  };
  const line = { line: 0, category: "usage", item: "all", currency: "EUR", rate: "2" };
  // The day in New York has both calls, that in UTC each its own.
  await sql`insert into vendor_accounts ${sql([
    {
      ...account,
      name: "ny",
      vendor: "other",
      providers: ["openai"],
      keys: ["ours"],
      time_zone: "America/New_York",
    },
    {
      ...account,
      name: "router",
      vendor: "openrouter",
      providers: ["openrouter"],
      keys: null,
      time_zone: "UTC",
    },
  ])}`;
  await sql`insert into vendor_bill_days ${sql(
    [
      ["ny", "2026-11-20"],
      ["router", "2026-08-02"],
    ].map(([name = "", day = ""]) => ({
      ...{ account: name, day, source: "file", read_at: at },
    })),
  )}`;
  await sql`insert into vendor_bill_lines ${sql([
    { ...line, account: "ny", day: "2026-11-20", key: "ours", amount: "1.4" },
    { ...line, account: "ny", day: "2026-11-20", line: 1, key: "another", amount: "100" },
    { ...line, account: "ny", day: "2026-11-20", line: 2, key: null, amount: "0.7", category: "tax" },
  ])}`;
  // 4 dollars of use, of which 3 are worth a credit that cost 1.5.
  const [[{ model } = { model: "" }] = []] = [
    await sql`select model from requests where provider = 'openrouter'`,
  ];
  await sql`insert into commitments ${sql([
    {
      ...{
        id: newId(),
        name: "prepaid",
        kind: "credit",
        provider: "openrouter",
        models: [model],
        amount_usd: "1.5",
      },
      ...{ worth_usd: "3", effective_from: "2026-08-01", effective_to: "2026-09-01", created_at: at },
    },
  ])}`;
  await sql.end();
  const measures = ["billed_cost_usd", "effective_cost_usd", "cost_usd"] as const;
  expect(await rows({ dimensions: ["provider"], measures: [...measures] })).toEqual([
    ["openai", 4.2, 2.8, 2.8, false],
    ["openrouter", 0, 2.5, 4, false],
    ["(none)", null, 0, 0, true],
    ["", 4.2, 5.3, 6.8, true],
  ]);
  // A part of a day has its share.
  const range = { from: "2026-11-20T20:00:00Z", to: null };
  expect(await rows({ measures: [...measures], range })).toEqual([["", 3, 2, 2, false]]);
});

test("tokens that no provider reported are unknown; errors, medians and first tokens are of single calls", async () => {
  expect(
    await rows({
      dimensions: ["surface", "tier", "error"],
      measures: ["reasoning_tokens", "cache_write_tokens", "error_rate", "latency_p50_ms", "ttft_p95_ms"],
    }),
  ).toEqual([
    ["chat.completions | priority | (none)", 3, 40, 0, 200, 29, false],
    ["chat.completions | (none) | (none)", null, null, 0, 500, null, false],
    ["messages | (none) | budget_exceeded", null, null, 1, null, null, false],
    ["", 3, 40, 0.25, 300, 29, false],
  ]);
});

test("quarters and hours are of the time zone that is asked for, in their order, and filters take them", async () => {
  expect(await rows({ dimensions: ["quarter", "hour_of_day"] })).toEqual([
    ["2026-Q3 | 09", 2, false],
    ["2026-Q4 | 09", 1, false],
    ["2026-Q4 | 23", 1, false],
    ["", 4, false],
  ]);
  expect(await rows({ dimensions: ["hour_of_day"] }, "Asia/Tokyo")).toEqual([
    ["08", 1, false],
    ["18", 3, false],
    ["", 4, false],
  ]);
  const filters = { hour_of_day: ["09"], quarter: ["2026-Q3"], error: ["(none)"] };
  expect(await rows({ filters, dimensions: ["provider"] })).toEqual([
    ["openrouter", 1, false],
    ["", 1, false],
  ]);
});

test("agents' own metrics have the provider, the error, reasoning and cache writes", async () => {
  const measures = ["reasoning_tokens", "cache_write_tokens"] as const;
  expect(
    await rows({ source: "agent_metrics", dimensions: ["provider", "error"], measures: [...measures] }),
  ).toEqual([
    ["openai | (none)", 7, null, false],
    ["anthropic | timeout", null, 11, false],
    ["", 7, 11, false],
  ]);
});

test("a file may have every row, more than an answer has", async () => {
  const org = "many";
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const requests = Array.from({ length: 1_100 }, (_, i) => ({
    at: "2026-11-20T09:00:00Z",
    session: `s${i}`,
  }));
  await seed(sql, org, { requests });
  await sql.end();
  await engines.wrote(org);
  const many = engines.runner(org);
  const spec = specOf({ dimensions: ["session"] });
  expect((await many.run(spec, NOW)).rows).toHaveLength(1_000);
  expect((await many.run(spec, NOW, { allRows: true })).rows).toHaveLength(1_100);
});

test("a budget is that of the row's thing and of the window's period, and what is used of it its cost", async () => {
  const org = "budgeted";
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const call = { key: "k", owner: "ann@example.com", route: "code", tags: ["ci"], teams: ["web", "all"] };
  await seed(sql, org, {
    keys: { k: "laptop" },
    requests: [
      { at: "2026-11-02T09:00:00Z", ...call, cost: "6" },
      { at: "2026-11-20T09:00:00Z", ...call, cost: "3", tags: ["ci", "night"] },
      { at: "2026-11-20T09:00:00Z", ...call, cost: "1", teams: ["all"], owner: null, key: "other" },
      { at: "2026-10-05T09:00:00Z", ...call, cost: "20" },
    ],
  });
  const at = { created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" };
  await sql`insert into teams ${sql([
    { org_id: org, name: "all", budget_usd: "40", budget_period: null, parent: null, ...at },
    { org_id: org, name: "web", budget_usd: "12", budget_period: "month", parent: "all", ...at },
  ])}`;
  const rest = { mode: "soft", thresholds: [80], unpriced: "allow", when_away: "local", ...at };
  const budget = (kind: string, scope: string | null, amount: string, period = "month") => ({
    ...{ org_id: org, name: `${kind} ${amount}`, kind, scope_id: scope, amount_usd: amount, period },
    ...{ account: kind === "key" ? keyId("k") : newId(), ...rest },
  });
  await sql`insert into budgets ${sql([
    budget("organisation", null, "100"),
    budget("organisation", null, "50"),
    budget("organisation", null, "600", "quarter"),
    budget("person", "Ann@example.com", "18"),
    budget("key", keyId("k"), "36"),
    budget("route", "code", "80"),
    budget("tag", "ci", "20"),
    budget("team", "web", "2", "day"),
  ])}`;
  await sql.end();
  await engines.wrote(org);
  const budgeted = engines.runner(org);
  const figures = async (over: Partial<Spec>, timeZone = "UTC") => {
    const spec = specOf({ range: "mtd", measures: ["budget_usd", "budget_used"], ...over });
    const { rows, total } = await budgeted.run(spec, NOW, { timeZone });
    const of = ({ current }: (typeof rows)[number]) => [current?.budget_usd, current?.budget_used];
    return Object.fromEntries([...rows.map((row) => [row.groups.join(), of(row)]), ["", of(total)]]);
  };
  const month = [50, 0.2];
  const none = [null, null];
  expect(await figures({})).toEqual({ "": month });
  // A team's budget counts those below it: all of it is in the row that a filter makes.
  expect(await figures({ dimensions: ["team"] })).toEqual({ all: [40, null], web: [12, 0.75], "": month });
  expect(await figures({ filters: { team: ["all"] } })).toEqual({ "": [40, 0.25] });
  expect(await figures({ dimensions: ["team"], filters: { team: ["web"] } })).toEqual({
    ...{ web: [12, 0.75], "": [12, 0.75] },
  });
  expect(await figures({ dimensions: ["subject"] })).toEqual({
    ...{ "ann@example.com": [18, 0.5], "service account": none, "": month },
  });
  expect(await figures({ dimensions: ["key"] })).toEqual({
    ...{ laptop: [36, 0.25], [keyId("other")]: none, "": month },
  });
  expect(await figures({ dimensions: ["route"] })).toEqual({ code: [80, 0.125], "": month });
  expect(await figures({ dimensions: ["tag"] })).toEqual({ ci: [20, 0.5], night: none, "": month });
  // Parts of what counts in a budget, and what has none.
  expect(await figures({ dimensions: ["tag"], filters: { tag: ["night"] } })).toEqual({
    ...{ ci: none, night: none, "": none },
  });
  expect(await figures({ dimensions: ["team"], filters: { route: ["code"] } })).toMatchObject({ web: none });
  expect(await figures({ dimensions: ["route", "team"] })).toMatchObject({ "code,web": none });
  expect(await figures({ dimensions: ["model"] })).toMatchObject({ "": month });
  // Other windows.
  const range = (from: string, to: string | null) => ({ range: { from, to } });
  expect(await figures(range("2026-10-01", "2026-10-31"))).toEqual({ "": [50, 0.4] });
  expect(await figures(range("2026-10-01", null))).toEqual({ "": [600, 0.05] });
  expect(await figures(range("2026-11-01", "2026-11-30"), "Europe/Berlin")).toEqual({ "": month });
  expect(await figures({ ...range("2026-11-20", "2026-11-20"), dimensions: ["team"] })).toEqual({
    ...{ web: [2, 1.5], all: none, "": none },
  });
  for (const it of [{ range: "30d" as const }, range("2026-11-01", "2026-11-20"), range("2026-11-02", null)])
    expect(await figures(it)).toEqual({ "": none });
  const compared = specOf({ range: "mtd", compare: "previous_period", measures: ["budget_used"] });
  const { total } = await budgeted.run(compared, NOW);
  expect([total.previous, total.delta]).toEqual([{ budget_used: 0.4 }, { budget_used: -0.2 }]);
});

test("a word that sums do not know reads single records, and says so where these are dropped", async () => {
  const rollups = openRollups({ url: database.url, orgId: "default", hoursDays: 999 });
  await rollups.catchUp(NOW);
  await rollups.close();
  const rolled = reportRunner({ url: database.url, rollupsFrom: 0 });
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  try {
    const asked = specOf({ dimensions: ["provider", "quarter", "team"], measures: ["latency_p50_ms"] });
    expect(await rolled.run(asked, NOW)).toEqual(await runner.run(asked, NOW));
    const byQuarter = specOf({ dimensions: ["quarter"], filters: { quarter: ["2026-Q3"] } });
    expect(await rolled.run(byQuarter, NOW)).toEqual(await runner.run(byQuarter, NOW));
    await sql`update rollup_state set raw_from = '2026-09-01', hours_to = '2026-09-01'`;
    expect(rolled.run(asked, NOW)).rejects.toThrow("provider: is computed from single records");
    const kept = { ...asked, range: "7d" as const };
    expect((await rolled.run(kept, NOW)).rows.map(({ groups }) => groups)).toEqual([
      ["openai", "2026-Q4", "(none)"],
    ]);
  } finally {
    await Promise.all([rolled.close(), sql.end()]);
  }
});
