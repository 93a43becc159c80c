import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { SOURCE } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import {
  type Figures,
  type MeasureName,
  PAYLOAD_MEASURES,
  Result,
  SOURCES,
  type Spec,
} from "#shared/report.ts";
import { faultsOf } from "#shared/schema.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type Engines, reportEngines } from "#test/support/report-engines.ts";
import { GOLDEN, NOW } from "./golden-world.ts";
import { keyId, seed } from "./world.ts";

let database: TestDatabase;
let engines: Engines;
let runner: ReportRunner;
let quick: ReportRunner;
/** Reports of the test so far. The first one is made by both databases. */
let asked = 0;
beforeEach(() => {
  asked = 0;
});

beforeAll(async () => {
  database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await seed(sql, "default", GOLDEN);
  // Another organisation's records never show.
  await seed(sql, "other", { requests: [{ at: "2026-11-20T00:00:00Z", session: "s1", cost: "1000" }] });
  await sql.end();
  engines = await reportEngines(database.url);
  await engines.wrote("default");
  await engines.wrote("other");
  runner = engines.runner();
  quick = engines.quickRunner();
});

const specOf = (over: Partial<Spec>): Spec =>
  checkSpec({
    source: "requests",
    dimensions: [],
    measures: ["requests"],
    filters: {},
    range: "7d",
    compare: "previous_period",
    view: "table",
    ...over,
  });
const ask = (over: Partial<Spec>) => (asked++ === 0 ? runner : quick).run(specOf(over), NOW);

/** Rows as `label → current values in the order of the measures`. */
async function table(over: Partial<Spec>): Promise<Record<string, (number | null)[] | null>> {
  const { rows, spec } = await ask(over);
  return Object.fromEntries(
    rows.map((row) => [
      row.groups.join(" | "),
      row.current && spec.measures.map((name) => row.current?.[name] ?? null),
    ]),
  );
}

const close = (figures: Figures | null, expected: Figures) => {
  expect(Object.keys(figures ?? {}).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, value] of Object.entries(expected)) {
    const found = figures?.[name as keyof Figures];
    if (typeof value === "number") expect([name, found]).toEqual([name, expect.closeTo(value, 12)]);
    else expect([name, found]).toEqual([name, value]);
  }
};

describe("source requests", () => {
  test("every measure of the total is what the records add up to by hand", async () => {
    const { total, window, previousWindow } = await ask({
      measures: SOURCE.requests.measures.filter((name) => PAYLOAD_MEASURES.includes(name)),
    });
    expect(window).toEqual({ from: "2026-11-15T00:00:00.000Z", to: "2026-11-21T12:00:00.000Z" });
    expect(previousWindow).toEqual({ from: "2026-11-08T00:00:00.000Z", to: "2026-11-14T12:00:00.000Z" });
    close(total.current, {
      requests: 12,
      input_tokens: 23110,
      output_tokens: 3711,
      total_tokens: 26821,
      cached_tokens: 6400,
      cost_usd: 0.3341,
      unpriced_requests: 1,
      users: 3,
      sessions: 3,
      active_hours: 5,
      latency_avg_ms: 2582 / 11,
      latency_p95_ms: 700,
      ttft_avg_ms: 23.75,
      cost_share: 1,
      request_share: 1,
      cost_per_user: 0.3341 / 3,
      requests_per_user: 4,
      cost_per_1k_requests: (0.3341 * 1000) / 11,
      tokens_per_request: 26821 / 12,
      cost_per_1m_tokens: (0.2541 * 1e6) / 21321,
      cost_per_1k_sessions: 100.55,
      cost_per_active_hour: 0.050275,
      cache_hit_rate: 6400 / 23110,
      cost_decomposition: 0.2731,
    });
    close(total.previous, {
      requests: 3,
      input_tokens: 3100,
      output_tokens: 510,
      total_tokens: 3610,
      cached_tokens: 0,
      cost_usd: 0.061,
      unpriced_requests: 0,
      users: 2,
      sessions: 2,
      active_hours: 2,
      latency_avg_ms: 120,
      latency_p95_ms: 156,
      ttft_avg_ms: null,
      cost_share: 1,
      request_share: 1,
      cost_per_user: 0.0305,
      requests_per_user: 1.5,
      cost_per_1k_requests: 61 / 3,
      tokens_per_request: 3610 / 3,
      cost_per_1m_tokens: 61000 / 3610,
      cost_per_1k_sessions: 30,
      cost_per_active_hour: 0.03,
      cache_hit_rate: 0,
      cost_decomposition: null,
    });
    expect([total.floor, total.previousFloor, total.groups]).toEqual([true, false, []]);
  });

  test("money is exact to the last digit, not a sum of floats", async () => {
    const { total } = await ask({ measures: ["cost_usd"] });
    expect([total.current?.cost_usd, total.previous?.cost_usd, total.delta?.cost_usd]).toEqual([
      0.3341, 0.061, 0.2731,
    ]);
  });

  test("delta is current less previous, and null where either is", async () => {
    const { total } = await ask({ measures: ["requests", "ttft_avg_ms", "latency_p95_ms"] });
    expect(total.delta).toEqual({ requests: 9, ttft_avg_ms: null, latency_p95_ms: 544 });
  });

  test("people and sessions of the total are counted anew, never added up from rows", async () => {
    const measures: Spec["measures"] = ["cost_usd", "requests", "users", "sessions"];
    const result = await ask({ dimensions: ["model"], measures });
    expect(await table({ dimensions: ["model"], measures })).toEqual({
      opus: [0.2001, 7, 2, 3],
      img: [0.08, 1, 1, 0],
      haiku: [0.054, 4, 2, 1],
    });
    expect(result.total.current).toEqual({ cost_usd: 0.3341, requests: 12, users: 3, sessions: 3 });
    expect(result.rows.map((row) => [row.groups[0], row.floor, row.previousFloor])).toEqual([
      ["opus", true, false],
      ["img", false, false],
      ["haiku", true, false],
    ]);
  });

  test("a group without records in one of the windows has null on that side, and no delta", async () => {
    const { rows } = await ask({ dimensions: ["model"] });
    expect(rows.find((row) => row.groups[0] === "img")).toEqual({
      groups: ["img"],
      current: { requests: 1 },
      previous: null,
      delta: null,
      floor: false,
      previousFloor: false,
    });
  });

  test("a subject is the owner, the label, both where they differ, or a service account", async () => {
    expect(await table({ dimensions: ["subject"], measures: ["requests", "cost_usd", "users"] })).toEqual({
      ann: [6, 0.0811, 1],
      "eve (bob)": [2, 0.12, 1],
      "service account": [2, 0.052, 0],
      bob: [1, 0.08, 1],
      eve: [1, 0.001, 1],
    });
  });

  test("a subject filter matches the whole text, the label or the owner", async () => {
    const count = async (...subject: string[]) =>
      (await ask({ filters: { subject } })).total.current?.requests;
    expect(await count("eve (bob)")).toBe(2);
    expect(await count("eve")).toBe(3);
    expect(await count("bob")).toBe(3);
    expect(await count("service account")).toBe(2);
    expect(await count("ann", "bob")).toBe(9);
    expect(await count("nobody")).toBe(0);
  });

  test("key groups show the key's name, and its id where it has none", async () => {
    expect(await table({ dimensions: ["key"] })).toEqual({ laptop: [6], ci: [3], [keyId("c")]: [3] });
    expect((await ask({ filters: { key: ["ci"] } })).total.current).toEqual({ requests: 3 });
  });

  test("a record counts under each of its tags, and once in the total", async () => {
    const result = await ask({ dimensions: ["tag"], measures: ["requests", "cost_usd"] });
    expect(await table({ dimensions: ["tag"], measures: ["requests", "cost_usd"] })).toEqual({
      "(none)": [9, 0.1341],
      x: [2, 0.08],
      y: [2, 0.17],
    });
    expect(result.total.current).toEqual({ requests: 12, cost_usd: 0.3341 });
    expect((await ask({ filters: { tag: ["x", "y"] } })).total.current).toEqual({ requests: 3 });
    expect((await ask({ filters: { tag: ["(none)"] } })).total.current).toEqual({ requests: 9 });
  });

  test("filters join with AND across dimensions and OR within one; an empty list limits nothing", async () => {
    const requests = async (filters: Spec["filters"]) => (await ask({ filters })).total.current?.requests;
    expect(await requests({ model: ["opus", "haiku"] })).toBe(11);
    expect(await requests({ model: ["opus", "haiku"], client: ["ide"] })).toBe(4);
    expect(await requests({ model: ["opus"], session: ["(none)"] })).toBe(1);
    expect(await requests({ day: ["2026-11-15"] })).toBe(3);
    expect(await requests({ day: ["2026-11-15"], model: [] })).toBe(3);
  });

  test("days, weeks (by their Monday) and months are UTC and in order of time", async () => {
    expect(await table({ dimensions: ["day"], compare: "none" })).toEqual({
      "2026-11-15": [3],
      "2026-11-16": [2],
      "2026-11-17": [2],
      "2026-11-18": [2],
      "2026-11-19": [1],
      "2026-11-20": [1],
      "2026-11-21": [1],
    });
    const weeks = await ask({ dimensions: ["week"], compare: "none" });
    expect(weeks.rows.map((row) => row.groups)).toEqual([["2026-11-09"], ["2026-11-16"]]);
    const days = await ask({ dimensions: ["model", "day"], compare: "none" });
    expect(days.rows.map((row) => row.groups).slice(0, 3)).toEqual([
      ["opus", "2026-11-15"],
      ["haiku", "2026-11-15"],
      ["opus", "2026-11-16"],
    ]);
    expect(await table({ dimensions: ["month"] })).toEqual({ "2026-11": [12] });
  });

  test("rows are in order of the first measure, then of the label; what is unknown comes last", async () => {
    const labels = async (measures: Spec["measures"]) =>
      (await ask({ dimensions: ["client"], measures })).rows.map((row) => row.groups[0]);
    expect(await labels(["requests"])).toEqual(["cli", "ide", "sdk"]);
    expect(await labels(["cost_per_1k_requests", "requests"])).toEqual(["sdk", "ide", "cli"]);
    expect(await labels(["ttft_avg_ms"])).toEqual(["ide", "cli", "sdk"]);
    expect(await labels(["cost_share"])).toEqual(["sdk", "ide", "cli"]);
    expect(await labels(["cost_decomposition"])).toEqual(["sdk", "ide", "cli"]);
  });

  test("the change of a row's cost adds up to the change of the total", async () => {
    const { rows, decomposition } = await ask({ dimensions: ["client"], measures: ["cost_decomposition"] });
    expect(rows.map((row) => [row.groups[0], row.current?.cost_decomposition])).toEqual([
      ["sdk", 0.13],
      ["ide", 0.083],
      ["cli", 0.0601],
    ]);
    expect(rows.map((row) => row.previous?.cost_decomposition ?? null)).toEqual([null, null, null]);
    const parts = Object.values(decomposition?.parts ?? {}).reduce(
      (a, b) => a + b,
      decomposition?.unmodelledUsd ?? 0,
    );
    expect(decomposition).toMatchObject({
      previousUsd: 0.061,
      currentUsd: 0.3341,
      deltaUsd: 0.2731,
      floor: true,
    });
    expect(decomposition?.unmodelledUsd).toBe(0.08);
    expect(parts).toBeCloseTo(0.2731, 12);
  });

  test("floor speaks of money alone: without a money measure it is false", async () => {
    const { total } = await ask({ measures: ["requests", "unpriced_requests"] });
    expect(total.floor).toBe(false);
  });
});

describe("the subscription lane", () => {
  test("counts in everything but money, and has no money of its own when grouped by channel", async () => {
    const measures: Spec["measures"] = ["requests", "cost_usd", "unpriced_requests", "cost_per_1k_requests"];
    const result = await ask({ dimensions: ["channel"], measures });
    expect(await table({ dimensions: ["channel"], measures })).toEqual({
      api: [10, 0.2841, 1, 28.41],
      batch: [1, 0.05, 0, 50],
      subscription: [1, null, 0, null],
    });
    expect(result.rows.at(-1)?.floor).toBe(false);
  });

  test("alone in the filter it is counted at list price", async () => {
    const filters = { channel: ["subscription"] };
    const { total } = await ask({ filters, measures: ["requests", "cost_usd", "users"] });
    expect(total.current).toEqual({ requests: 1, cost_usd: 0.9, users: 1 });
    const beside = await ask({ filters: { channel: ["subscription", "batch"] }, measures: ["cost_usd"] });
    expect(beside.total.current).toEqual({ cost_usd: 0.05 });
  });
});

describe("coverage", () => {
  test("is null for labels that are always there", async () => {
    expect((await ask({ dimensions: ["client", "day"] })).coverage).toBeNull();
  });

  test("tells since when a label is recorded, and how many records of each window are older", async () => {
    expect((await ask({ dimensions: ["tag"] })).coverage).toEqual({
      dimensionsSince: "2026-11-15T00:00:00.000Z",
      rowsBefore: 0,
      previousRowsBefore: 3,
    });
    expect((await ask({ filters: { session: ["s1"] }, compare: "none" })).coverage).toEqual({
      dimensionsSince: "2026-11-08T00:00:00.000Z",
      rowsBefore: 0,
      previousRowsBefore: null,
    });
    expect((await ask({ dimensions: ["tag"], filters: { client: ["ide"] } })).coverage).toMatchObject({
      previousRowsBefore: 1,
    });
  });
});

describe("source outcomes", () => {
  test("the cost of what was reverted is the same, whatever else is asked", async () => {
    const cost = async (...others: MeasureName[]) => {
      const measures: MeasureName[] = ["reverted_cost_usd", ...others];
      return (await ask({ source: "outcomes", dimensions: [], measures })).total.current?.reverted_cost_usd;
    };
    const known = await cost("reverted_prs");
    expect(known).toBeGreaterThan(0);
    expect(await cost()).toBe(known ?? null);
  });

  test("reports that are asked together have the reverts, and the sessions of both windows, that each has alone", async () => {
    const specs = [
      specOf({ source: "outcomes", measures: ["merged_prs", "cost_usd"], compare: "none" }),
      specOf({ source: "outcomes", measures: ["reverted_prs", "reverted_cost_usd"] }),
      specOf({ source: "outcomes", measures: ["cost_usd", "joined_prs"], dimensions: ["repository"] }),
    ];
    const alone = await Promise.all(specs.map((spec) => quick.run(spec, NOW)));
    const together = await quick.runAll(
      specs.map((spec) => ({ spec })),
      NOW,
    );
    expect<unknown>(together.map(({ empty: _, ceiling: __, ...result }) => result)).toEqual(alone);
  });

  const measures = SOURCE.outcomes.measures.filter((name) => PAYLOAD_MEASURES.includes(name));

  test("every measure by repository, a shared session counted once per row and once in the total", async () => {
    const { rows, total } = await ask({ source: "outcomes", dimensions: ["repository"], measures });
    const [app, lib] = rows;
    expect([app?.groups, lib?.groups, app?.floor, lib?.floor]).toEqual([
      ["acme/app"],
      ["acme/lib"],
      true,
      true,
    ]);
    close(app?.current ?? null, {
      merged_prs: 7,
      reverted_prs: 1,
      revert_rate: 1 / 7,
      reviews: 3,
      joined_prs: 3,
      cost_per_merged_pr: 0.0811 / 7,
      cost_usd: 0.0811,
      users: 1,
      sessions: 2,
    });
    close(lib?.current ?? null, {
      merged_prs: 4,
      reverted_prs: 1,
      revert_rate: 0.25,
      reviews: 1,
      joined_prs: 2,
      cost_per_merged_pr: 0.2011 / 4,
      cost_usd: 0.2011,
      users: 2,
      sessions: 2,
    });
    close(total.current, {
      merged_prs: 11,
      reverted_prs: 2,
      revert_rate: 2 / 11,
      reviews: 4,
      joined_prs: 5,
      cost_per_merged_pr: 0.2011 / 11,
      cost_usd: 0.2011,
      users: 2,
      sessions: 3,
    });
    close(total.previous, {
      merged_prs: 1,
      reverted_prs: 0,
      revert_rate: 0,
      reviews: 0,
      joined_prs: 1,
      cost_per_merged_pr: 0.02,
      cost_usd: 0.02,
      users: 1,
      sessions: 1,
    });
    expect(total.previousFloor).toBe(false);
  });

  test("who made a pull request is who made its session's requests; without a known session, nobody", async () => {
    const asked: Spec["measures"] = ["merged_prs", "cost_usd", "joined_prs"];
    expect(await table({ source: "outcomes", dimensions: ["subject"], measures: asked })).toEqual({
      "(none)": [6, null, 0],
      ann: [4, 0.0811, 4],
      "eve (bob)": [1, 0.12, 1],
    });
    expect(await table({ source: "outcomes", dimensions: ["key"], measures: asked })).toEqual({
      "(none)": [6, null, 0],
      laptop: [4, 0.0811, 4],
      ci: [1, 0.12, 1],
    });
    const { total } = await ask({ source: "outcomes", filters: { subject: ["ann"] }, measures: asked });
    expect(total.current).toEqual({ merged_prs: 4, cost_usd: 0.0811, joined_prs: 4 });
  });

  test("reviews alone cost 0, for nothing was merged; merges of which none is joined cost what nobody knows", async () => {
    const money = { source: "outcomes", measures: ["cost_usd", "cost_per_merged_pr", "reviews"] } as const;
    const day = (at: string) =>
      ask({ ...money, measures: [...money.measures], range: { from: at, to: at }, compare: "none" });
    const reviewed = await day("2026-11-14");
    expect(reviewed.total.current).toEqual({ cost_usd: 0, cost_per_merged_pr: null, reviews: 1 });
    expect(reviewed.total.floor).toBe(false);
    const unjoined = await day("2026-11-21");
    expect(unjoined.total.current).toEqual({ cost_usd: null, cost_per_merged_pr: null, reviews: 0 });
    expect(unjoined.total.floor).toBe(true);
  });

  test("a pull request belongs to the window of its merge", async () => {
    const { rows } = await ask({
      source: "outcomes",
      dimensions: ["day", "repository"],
      measures: ["merged_prs"],
    });
    expect(
      rows.map((row) => [...row.groups, row.current?.merged_prs ?? null, row.previous?.merged_prs ?? null]),
    ).toEqual([
      ["2026-11-10", "acme/lib", null, 1],
      ["2026-11-16", "acme/app", 1, null],
      ["2026-11-17", "acme/app", 1, null],
      ["2026-11-17", "acme/lib", 0, null],
      ["2026-11-18", "acme/app", 1, null],
      ["2026-11-18", "acme/lib", 1, null],
      ["2026-11-19", "acme/lib", 2, null],
      ["2026-11-19", "acme/app", 1, null],
      ["2026-11-20", "acme/app", 3, null],
      ["2026-11-21", "acme/lib", 1, null],
    ]);
  });
});

describe("every source", () => {
  test.each([...SOURCES])(
    "%s answers all of its measures by each pair of its dimensions in the payload's form",
    async (source) => {
      const { dimensions, measures } = SOURCE[source];
      for (const [i, first] of dimensions.entries()) {
        const second = dimensions[(i + 1) % dimensions.length] ?? first;
        const result = await ask({ source, dimensions: [first, second], measures: [...measures] });
        expect(faultsOf(Result, result)).toEqual([]);
      }
    },
  );

  test("sums over no records are 0, and averages and ratios over none are null", async () => {
    const { total, rows } = await ask({
      range: { from: "2020-01-01", to: "2020-01-31" },
      measures: [
        "requests",
        "cost_usd",
        "users",
        "latency_avg_ms",
        "latency_p95_ms",
        "cost_per_user",
        "cost_share",
      ],
    });
    const nothing = {
      requests: 0,
      cost_usd: 0,
      users: 0,
      latency_avg_ms: null,
      latency_p95_ms: null,
      cost_per_user: null,
      cost_share: null,
    };
    expect([total.current, total.previous, total.floor, rows]).toEqual([nothing, nothing, false, []]);
    const empty = await ask({
      source: "agent_metrics",
      dimensions: ["client"],
      measures: ["estimated_cost_usd"],
    });
    expect([empty.rows, empty.total.current]).toEqual([[], { estimated_cost_usd: 0 }]);
  });

  test("a percentile between two records is the decimal that it is, not a float beside it", async () => {
    const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await seed(sql, "percentile", {
      requests: [2, 2, 2, 2, 2, 2, 2, 3, 5].map((latencyMs, i) => ({
        at: `2026-11-20T00:00:0${i}Z`,
        latencyMs,
      })),
    });
    await sql.end();
    await engines.wrote("percentile");
    const others = engines.runner("percentile");
    const { total } = await others.run(
      checkSpec({
        source: "requests",
        dimensions: [],
        measures: ["latency_p95_ms"],
        filters: {},
        range: "7d",
        compare: "none",
        view: "table",
      }),
      NOW,
    );
    await others.close();
    expect(total.current).toEqual({ latency_p95_ms: 4.2 });
  });

  test("a change of cost is unknown, and comes last, where what was before is unknown", async () => {
    const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await seed(sql, "changes", {
      requests: [
        { at: "2026-11-14T00:00:00Z", client: "ide", session: "s1", cost: null },
        { at: "2026-11-20T00:00:00Z", client: "ide", session: "s1", cost: "5" },
        { at: "2026-11-14T00:00:00Z", client: "cli", session: "s2", cost: "0.5" },
        { at: "2026-11-20T00:00:00Z", client: "cli", session: "s2", cost: "1" },
        { at: "2026-11-20T00:00:00Z", client: "sdk", session: "s3", cost: "2" },
      ],
    });
    await sql.end();
    const rollups = openRollups({ url: database.url, orgId: "changes" });
    await rollups.catchUp(NOW);
    await rollups.close();
    const found = [];
    for (const rollupsFrom of [0, Number.POSITIVE_INFINITY]) {
      const others = reportRunner({ url: database.url, orgId: "changes", rollupsFrom });
      for (const dimensions of [["client"], ["client", "session"]] as const) {
        const { rows } = await others.run(
          checkSpec({
            source: "requests",
            dimensions,
            measures: ["cost_decomposition"],
            filters: {},
            range: "7d",
            compare: "previous_period",
            view: "table",
          }),
          NOW,
        );
        found.push(rows.map(({ groups, current }) => [groups[0], current?.cost_decomposition]));
      }
      await others.close();
    }
    const order = [
      ["sdk", 2],
      ["cli", 0.5],
      ["ide", null],
    ];
    expect(found).toEqual([order, order, order, order]);
  });

  test("without a beginning everything is read, and there is nothing to compare with", async () => {
    const result = await ask({ range: { from: null, to: null } });
    expect(result.total.current).toEqual({ requests: 18 });
    expect([result.window.from, result.previousWindow, result.total.previous]).toEqual([null, null, null]);
  });

  test("a filter value is data, whatever it looks like", async () => {
    const client = ["'; drop table requests; --", "$1", '{"a",\\b}', "{}", "null", "ünï\u2028", "a,b"];
    expect((await ask({ filters: { client } })).total.current).toEqual({ requests: 0 });
    expect((await ask({ filters: { client: [...client, "cli"] } })).total.current).toEqual({ requests: 6 });
  });
});
