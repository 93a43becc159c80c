import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { checkPayloadSpec, checkSpec } from "#gateway/reports/spec.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { EXPLANATIONS } from "#shared/explanation.ts";
import { REPORT_JSON_SCHEMA } from "#shared/report-payload.ts";
import { atEnd } from "#test/support/at-end.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { ALL } from "#test/support/tiers.ts";
import {
  explainedByLoops,
  explainedWorld,
  mergeCostsByLoops,
  NOW,
  seedExplained,
  usdNumber,
} from "./explained-world.ts";

const [PULL_REQUESTS, SESSIONS] = process.env[ALL] ? [5_000, 60_000] : [80, 900];
const world = explainedWorld(PULL_REQUESTS, SESSIONS);
const ORG = "explained";
const SPEC = {
  source: "requests",
  dimensions: ["explanation"],
  measures: ["cost_usd", "requests"],
  filters: {},
  range: { from: null, to: null },
  compare: "none",
  view: "table",
};

let sql: postgres.Sql;
let runners: Record<"engines" | "rolled", ReportRunner>;
beforeAll(async () => {
  const { url } = await testDatabase();
  sql = testSql(url);
  await seedExplained(sql, ORG, world);
  const engines = await reportEngines(url);
  await engines.wrote(ORG);
  const rollups = openRollups({ url, orgId: ORG });
  await rollups.catchUp(NOW);
  await rollups.close();
  const rolled = reportRunner({ url, orgId: ORG, rollupsFrom: 0 });
  atEnd(() => rolled.close());
  runners = { engines: engines.runner(ORG), rolled };
}, 600_000);

test("what explains spend adds up to all spend to the last digit, from records and from sums", async () => {
  const parts = explainedByLoops(world);
  expect([...parts.keys()].sort()).toEqual([...EXPLANATIONS].sort());
  const rows = [...parts].map(([name, { picos, calls, uncertain }]) => [
    name,
    usdNumber(picos),
    calls,
    uncertain,
  ]);
  for (const runner of Object.values(runners)) {
    const report = await runner.run(checkSpec(SPEC), NOW);
    const found = report.rows.map(({ groups, current, floor }) => [
      ...[groups[0], current?.cost_usd, current?.requests, floor],
    ]);
    expect(found.toSorted()).toEqual(rows.toSorted());
    const all = world.calls.reduce((sum, { lane, picos }) => sum + (lane ? 0n : (picos ?? 0n)), 0n);
    expect([...parts.values()].reduce((sum, { picos }) => sum + picos, 0n)).toBe(all);
    expect(report.total.current).toEqual({ cost_usd: usdNumber(all), requests: world.calls.length });
  }
}, 600_000);

test("merged spend is what the merges cost, and each part names its sessions", async () => {
  const { joined } = Object.fromEntries(explainedByLoops(world));
  const merges = { ...SPEC, source: "outcomes", dimensions: [], measures: ["cost_usd"] };
  const { total } = await runners.rolled.run(checkSpec(merges), NOW);
  expect(total.current?.cost_usd).toBe(usdNumber(joined?.picos ?? 0n));
  const sessions = { ...SPEC, dimensions: ["session"], filters: { explanation: ["joined"] } };
  const named = await runners.engines.run(checkSpec(sessions), NOW);
  expect(named.total.current).toEqual({
    cost_usd: usdNumber(joined?.picos ?? 0n),
    requests: joined?.calls ?? 0,
  });
  expect(named.rows[0]?.groups[0]).toMatch(/^s\d+/);
}, 600_000);

test("the median of merges, its interval and the 90th percentile are those of the costs in order", async () => {
  const costs = mergeCostsByLoops(world);
  const n = costs.length;
  const at = (place: number) => costs[place - 1] ?? -1n;
  const edge = Math.floor((n - 1.96 * Math.sqrt(n)) / 2);
  const measures = [
    "costed_prs",
    "median_cost_per_pr",
    "p90_cost_per_pr",
    "median_low_usd",
    "median_high_usd",
  ];
  const spec = checkSpec({ ...SPEC, source: "outcomes", dimensions: [], measures });
  expect(n).toBeGreaterThan(8);
  for (const runner of Object.values(runners)) {
    expect((await runner.run(spec, NOW)).total.current).toEqual({
      costed_prs: n,
      // The mean of two, as tenths of them times five.
      median_cost_per_pr: usdNumber((at(Math.ceil(n / 2)) + at(Math.floor(n / 2) + 1)) * 5n, 13),
      p90_cost_per_pr: usdNumber(at(Math.ceil((n * 9) / 10))),
      median_low_usd: usdNumber(at(edge)),
      median_high_usd: usdNumber(at(n + 1 - edge)),
    });
  }
}, 600_000);

test("the payload does not know the new words: only queries take them", () => {
  expect(() => checkPayloadSpec(SPEC)).toThrow("spec.dimensions[0]: expected one of client, model");
  expect(() => checkPayloadSpec({ ...SPEC, dimensions: [], filters: { explanation: ["open"] } })).toThrow(
    "spec.filters.explanation: unexpected property",
  );
  const merges = { ...SPEC, source: "outcomes", dimensions: [], measures: ["median_cost_per_pr"] };
  expect(() => checkPayloadSpec(merges)).toThrow("spec.measures[0]: expected one of requests, input_tokens");
  expect(JSON.stringify(REPORT_JSON_SCHEMA)).not.toMatch(/explanation|median|pr_kind/);
});
