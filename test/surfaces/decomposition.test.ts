import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { type RequestFacts, seed } from "#test/reports/world.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";

const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse("2026-01-01T00:00:00Z");
const PAIRS = 1_000;

const request: fc.Arbitrary<RequestFacts> = fc.record({
  at: fc.integer({ min: 0, max: 120 * DAY_MS }).map((ms) => new Date(FIRST_MS + ms).toISOString()),
  channel: fc.constantFrom("api" as const, "api" as const, "batch" as const, "subscription" as const),
  owner: fc.option(fc.constantFrom("ann", "bob", "eve"), { nil: null }),
  input: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: null }),
  output: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: null }),
  cost: fc.option(
    fc.integer({ min: 0, max: 9_000_000 }).map((micros) => (micros / 1e6).toFixed(6)),
    { nil: null },
  ),
  partial: fc.boolean(),
});

let database: TestDatabase;
let runner: ReportRunner;
beforeAll(async () => {
  database = await testDatabase();
  const sql = testSql(database.url);
  await seed(sql, "default", { requests: fc.sample(request, { numRuns: 600, seed: 7 }) });
  await sql.end();
  runner = reportRunner({ url: database.url });
});
afterAll(async () => {
  await runner.close();
});

test("of 1,000 random pairs of periods, what changed the cost adds up to what it changed by, to 1e-9", async () => {
  const period = fc.tuple(
    fc.integer({ min: 0, max: 119 * DAY_MS }),
    fc.integer({ min: 3_600_000, max: 45 * DAY_MS }),
  );
  let modelled = 0;
  for (const [from, length] of fc.sample(period, { numRuns: PAIRS, seed: 11 })) {
    const range = {
      from: new Date(FIRST_MS + from).toISOString(),
      to: new Date(FIRST_MS + from + length).toISOString(),
    };
    const spec = { source: "requests", dimensions: [], measures: ["cost_usd", "cost_decomposition"], range };
    const checked = checkSpec({ ...spec, filters: {}, compare: "previous_period", view: "waterfall" });
    const { decomposition, total } = await runner.run(checked, new Date());
    const { parts, unmodelledUsd = 0, deltaUsd = 0 } = decomposition ?? {};
    const values = Object.values(parts ?? {});
    const sum = values.reduce((all, part) => all + part, unmodelledUsd);
    expect(Math.abs(sum - deltaUsd)).toBeLessThan(1e-9);
    // Where a window's cost is wholly unknown, the decomposition takes it for nothing, and the measure says null.
    const known = total.current?.cost_usd !== null && total.previous?.cost_usd !== null;
    expect(total.current?.cost_decomposition).toBe(known ? deltaUsd : null);
    if (values.some((part) => part !== 0)) modelled++;
  }
  // The pairs are no trivial ones.
  expect(modelled).toBeGreaterThan(PAIRS / 2);
});
